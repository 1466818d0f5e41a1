/* Named frames in traces that are added up: equal texts are one frame, whichever trace had them. */
#include "common/trace/trace_merge.h"

#include <stdio.h>
#include <stdlib.h>

#include "common/trace/trace_identity.h"
#include "common/trace/trace_reader.h"
#include "tests/tap.h"
#include "tests/unit/trace_build.h"

static uint32_t rows[2]; /* of the last process */

/* A process whose stack is root, `outer`, an address, `inner`; and one without `outer`. */
static struct trace *process(uint32_t pid, const char *filler, const char *outer, const char *inner)
{
    struct trace_build b;
    struct trace *t = NULL;
    uint32_t root, node;

    tb_init(&b);
    tb_header(&b)->pid = pid;
    tb_header(&b)->start_monotonic_ns = 1000;
    root = tb_root(&b, 0, tb_thread(&b, pid, "app"));
    tb_meta_string(&b, TRACE_META_STRING, filler); /* texts lie elsewhere in each file */
    node = tb_node(&b, TRACE_NODE_NAME, tb_meta_string(&b, TRACE_META_STRING, outer), root);
    node = tb_node(&b, TRACE_NODE_PC, 0x100, node);
    node = tb_node(&b, TRACE_NODE_NAME, tb_meta_string(&b, TRACE_META_STRING, inner), node);
    rows[0] = tb_row(&b, node, 1, 100, 1);
    node = tb_node(&b, TRACE_NODE_NAME, tb_meta_string(&b, TRACE_META_STRING, inner), root);
    rows[1] = tb_row(&b, node, 1, 10, 1);
    if (trace_load_bytes("app", b.data, b.len, false, &t) != 0)
        abort();
    tb_release(&b);
    return t;
}

/* Bytes of the stack whose named frames are `outer` (NULL: none) and `inner`. */
static uint64_t bytes_of(const struct trace *t, const char *outer, const char *inner)
{
    uint64_t sum = 0;

    for (uint32_t i = 0; i < t->row_limit; i++) {
        const struct trace_node *n = &t->nodes[t->rows[i].node];
        const char *names[2] = {inner, outer};
        unsigned found = 0;
        bool same = t->rows[i].node != 0;

        for (; same && n->kind != TRACE_NODE_ROOT; n = &t->nodes[n->parent]) {
            struct trace_string s = {"", 0};

            if (n->kind != TRACE_NODE_NAME)
                continue;
            s = trace_node_name(t, n);
            same = found < 2 && names[found] && s.len == strlen(names[found]) &&
                   memcmp(s.s, names[found], s.len) == 0;
            found++;
        }
        if (same && found == (outer ? 2u : 1u))
            sum += t->rows[i].alloc_bytes;
    }
    return sum;
}

int main(void)
{
    struct trace_merge_options options = {.pid = false};
    struct trace_merge *m = trace_merge_new(&options);
    struct trace *const *sums, *apart[3];
    uint64_t identities[3];
    size_t n;

    for (uint32_t i = 0; i < 300; i++) {
        char filler[400], inner[32];

        snprintf(filler, sizeof filler, "%0*u", (int)(i + 1), i);
        snprintf(inner, sizeof inner, "inner%u", i % 100);
        trace_merge_add(m, process(i + 1, filler, "outer", inner));
    }
    sums = trace_merge_result(m, &n);
    is_int((intmax_t)n, 1, "processes of one program are one trace");
    is_int((intmax_t)bytes_of(sums[0], "outer", "inner7"), 300, "equal names are one stack");
    is_int((intmax_t)bytes_of(sums[0], NULL, "inner7"), 30, "a name below another caller is apart");
    is_int((intmax_t)bytes_of(sums[0], "outer", "inner99"), 300, "the last name has its text");
    is_int((intmax_t)bytes_of(sums[0], "outer", "inner100"), 0, "a name that none has is none");
    apart[0] = process(1000, "x", "outer", "inner7");
    apart[1] = process(1001, "longer", "outer", "inner7");
    apart[2] = process(1002, "x", "outer", "inner8");
    for (int i = 0; i < 3; i++)
        identities[i] = trace_stack_identity(apart[i], apart[i]->rows[rows[0]].node);
    ok(identities[0] == identities[1], "equal names have one identity");
    ok(identities[0] != identities[2], "other names have another");
    for (int i = 0; i < 3; i++)
        trace_free(apart[i]);
    trace_merge_free(m);
    return done_testing();
}
