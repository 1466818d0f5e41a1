/*
 * An address is looked up once: leaks of a program have few different ones. This runs in the child
 * of fold/fold_in_child.h, because it reads debug information.
 */
#include "driver/suppress/leakframes.h"

#include <stdlib.h>
#include <uthash.h>

#include "common/alloc.h"
#include "common/basename.h"
#include "common/folded.h"
#include "common/trace/trace_merge.h"
#include "driver/suppress/baseline.h"

struct address {
    struct address_key {
        uint64_t addr;
        const struct trace_module_view *module;
    } key;
    struct suppress_frame *frame; /* innermost first */
    size_t n;
    UT_hash_handle hh;
};

struct leakframes {
    const struct trace *t;
    struct symbols *syms;
    struct symbol_module **modules; /* in the order of t->modules */
    struct address *addresses;
    struct suppress_frame **stack;
    size_t room;
};

struct leakframes *leakframes_new(const struct trace *t, struct symbols *syms)
{
    struct leakframes *f = xcalloc(1, sizeof *f);

    symbols_use_names(syms, t->names);
    f->t = t;
    f->syms = syms;
    f->modules = xcalloc(t->nmodules, sizeof *f->modules);
    return f;
}

void leakframes_free(struct leakframes *f)
{
    struct address *a, *next;

    HASH_ITER (hh, f->addresses, a, next) {
        HASH_DEL(f->addresses, a);
        for (size_t i = 0; i < a->n; i++)
            suppress_frame_release(&a->frame[i]);
        free(a->frame);
        free(a);
    }
    free(f->modules);
    free(f->stack);
    free(f);
}

static struct symbol_frames find(struct leakframes *f, const struct trace_module_view *m,
                                 uint64_t addr)
{
    struct symbol_module **module = &f->modules[m - f->t->modules];

    if (!*module)
        *module = symbols_module(f->syms, m->path, m->m.build_id, m->m.build_id_size, m->m.layout);
    return symbols_find(f->syms, *module, addr - m->m.bias);
}

static void resolve(struct leakframes *f, struct address *a)
{
    const char *path = a->key.module ? a->key.module->path : "";
    struct symbol_frames found = {NULL, 0};

    if (a->key.module)
        found = find(f, a->key.module, a->key.addr);
    a->n = found.n ? found.n : 1;
    a->frame = xcalloc(a->n, sizeof *a->frame);
    for (size_t i = 0; i < a->n; i++)
        a->frame[i] = (struct suppress_frame){
            .name = "",
            .raw = "",
            .module = path,
            .offset = a->key.addr - (a->key.module ? a->key.module->m.bias : 0)};
    for (size_t i = 0; i < found.n; i++) {
        const struct symbol_frame *from = &found.frame[found.n - 1 - i];
        struct suppress_frame *to = &a->frame[i];

        to->name = from->name;
        to->len = from->len;
        to->raw = from->raw;
        to->raw_len = from->raw_len;
        to->file = from->path;
        to->line = from->line;
        to->inlined = from->inlined;
    }
}

static struct address *find_address(struct leakframes *f, const struct trace_node *n,
                                    const struct trace_node *root)
{
    struct address_key key;
    struct address *a;

    /* There may be bytes between the members. */
    memset(&key, 0, sizeof key);
    key.module = trace_module_at(f->t, n->addr, (uint32_t)(root->addr >> 32));
    key.addr = n->addr - (n->kind == TRACE_NODE_PC);
    HASH_FIND(hh, f->addresses, &key, sizeof key, a);
    if (a)
        return a;
    a = xcalloc(1, sizeof *a);
    a->key = key;
    resolve(f, a);
    HASH_ADD(hh, f->addresses, key, sizeof a->key, a);
    return a;
}

struct suppress_frame **leakframes_of(struct leakframes *f, uint32_t node, size_t *n)
{
    const struct trace_node *root = trace_node_root(f->t, node), *at = &f->t->nodes[node];

    *n = 0;
    for (; at->kind != TRACE_NODE_ROOT; at = &f->t->nodes[at->parent]) {
        struct address *a;

        if (at->kind != TRACE_NODE_PC && at->kind != TRACE_NODE_PC_EXACT)
            continue;
        a = find_address(f, at, root);
        for (size_t i = 0; i < a->n; i++) {
            GROW(f->stack, *n, f->room);
            f->stack[(*n)++] = &a->frame[i];
        }
    }
    return f->stack;
}

static void add_frame(struct strbuf *sb, const struct suppress_frame *frame)
{
    const char *base = base_name(frame->module);

    strbuf_addch(sb, ';');
    if (frame->len) {
        folded_add_frame(sb, frame->name, frame->len);
        return;
    }
    strbuf_addch(sb, '[');
    folded_add_frame(sb, *base ? base : "unknown", strlen(*base ? base : "unknown"));
    strbuf_addch(sb, ']');
}

void leakframes_add_key(struct leakframes *f, uint32_t node, struct strbuf *sb)
{
    const char *program = trace_program(f->t);
    struct strbuf stack = STRBUF_INIT;
    size_t n;
    struct suppress_frame **frame = leakframes_of(f, node, &n);

    folded_add_frame(&stack, program, strlen(program));
    while (n > 0)
        add_frame(&stack, frame[--n]);
    baseline_add_key(sb, stack.buf, stack.len);
    strbuf_release(&stack);
}
