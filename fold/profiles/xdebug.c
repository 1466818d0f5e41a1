/* PHP: traces of Xdebug in format 1. */
#include <stdlib.h>

#include "common/alloc.h"
#include "fold/collapse/readers.h"
#include "fold/stacks/span.h"

/*
 * Tab-separated: level, number of the call, 0 on entry or 1 on exit, seconds since
 * the start, memory, and on entry the function's name. Time passes for whatever
 * function is innermost; counts are microseconds.
 */
static bool microseconds(struct span s, uint64_t *out)
{
    struct stackset_count c;

    if (!stackset_count_parse(s.s, s.len, &c) || __builtin_mul_overflow(c.whole, 1000000u, out) ||
        __builtin_add_overflow(*out, (c.part + STACKSET_PART / 2000000) / (STACKSET_PART / 1000000),
                               out))
        return false;
    return true;
}

/* Columns may be set apart by several tabs. */
static size_t tab_fields(struct span line, struct span field[6])
{
    size_t n = 0;

    while (line.len && n < 6) {
        size_t tab = span_chr(line, '\t');

        field[n] = span_to(line, tab);
        line = span_from(line, field[n].len + 1);
        if (field[n].len)
            n++;
    }
    return n;
}

static void spend(struct collapse *c, const uint32_t *calls, size_t n, uint64_t us)
{
    struct stackset_count count = {us, 0};

    if (n == 0)
        return;
    for (size_t i = 0; i < n; i++)
        collapse_push_id(c, calls[i]);
    collapse_flush(c, ROOT_FIRST, &count);
}

void collapse_xdebug_run(struct collapse *c)
{
    uint32_t *calls = NULL;
    size_t n = 0, alloc = 0;
    uint64_t before = 0, now;
    struct textrecord rec;
    struct span field[6];
    bool started = false;

    while (textinput_record(&c->in, &rec)) {
        struct span line = rec.line;
        size_t fields;

        if (!started) {
            started = span_begins(line, "TRACE START");
            continue;
        }
        if (span_begins(line, "TRACE END") || span_begins(line, "\t"))
            break;
        fields = tab_fields(line, field);
        /* "R" lines have a return value, "A" lines an assignment. */
        if (fields >= 3 && (span_is(field[2], "R") || span_is(field[2], "A")))
            continue;
        if (fields < 4 || !microseconds(field[3], &now) ||
            !(span_is(field[2], "1") || (span_is(field[2], "0") && fields == 6))) {
            collapse_unknown(c, line.s, line.len);
            continue;
        }
        spend(c, calls, n, now > before ? now - before : 0);
        before = now;
        if (span_is(field[2], "1")) {
            n -= n > 0;
            continue;
        }
        GROW(calls, n, alloc);
        calls[n++] = collapse_name(c, field[5].s, field[5].len);
    }
    free(calls);
}

int collapse_xdebug_probe(const char *text, size_t len)
{
    struct span all = {text, len};

    return span_begins(all, "TRACE START [") || span_find(all, "\nTRACE START [") ? 95 : 0;
}
