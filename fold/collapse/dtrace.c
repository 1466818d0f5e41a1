/* DTrace: aggregated stacks. */
#include "fold/collapse/countline.h"
#include "fold/collapse/dtrace.h"
#include "fold/collapse/readers.h"
#include "fold/decode/funcname.h"
#include "fold/stacks/span.h"

/* Lines that are not the aggregation's: "CPU ID FUNCTION:NAME", "  0  64091   :tick-60s". */
static bool is_dtrace_header(struct span s)
{
    struct span a, b, c;

    s = span_trim(s);
    if (span_begins(s, "dtrace:"))
        return true;
    a = span_next(&s);
    b = span_next(&s);
    c = span_next(&s);
    if (span_is(a, "CPU") && span_is(b, "ID"))
        return true;
    return a.len && span_digits(a) == a.len && b.len && span_digits(b) == b.len &&
           span_chr(c, ':') != SIZE_MAX && span_trim(s).len == 0;
}

static void dtrace_frame(struct collapse *c, struct span frame)
{
    struct strbuf *name = &c->scratch;
    uint32_t ids[64];
    size_t n = 0;

    frame = c->opt->perl ? funcname_cut_dtrace(frame) : funcname_before_offset(frame);
    while (n < ARRAY_LEN(ids)) {
        const char *arrow = c->opt->perl ? span_find(frame, "->") : funcname_arrow(frame, 0);
        struct span one = arrow ? span_to(frame, (size_t)(arrow - frame.s)) : frame;

        if (n > 0 && !arrow && one.len == 0)
            break;
        /* Java's "Lpackage/Class;". */
        if (span_begins(one, "L") && span_chr(one, '/') != SIZE_MAX)
            one = span_from(one, 1);
        strbuf_clear(name);
        strbuf_add(name, one.s, one.len);
        if (one.len == 0 && n == 0 && !arrow)
            strbuf_addch(name, '-');
        if (n > 0)
            strbuf_addstr(name, "_[i]");
        ids[n++] = collapse_name(c, name->buf, name->len);
        if (!arrow)
            break;
        frame = span_from(frame, (size_t)(arrow - frame.s) + 2);
    }
    while (n > 0)
        collapse_push_id(c, ids[--n]);
}

void collapse_dtrace_run(struct collapse *c)
{
    countline_run(c, is_dtrace_header, dtrace_frame);
}

bool dtrace_count_shapes(const char *text, size_t len, size_t *dtrace, size_t *stap)
{
    struct span rest = {text, len}, line;
    struct stackset_count count;
    bool frame = false, ended = false;

    *dtrace = *stap = 0;
    while (span_line(&rest, &line)) {
        struct span s = span_ltrim(line);

        if (s.len == 0 || is_dtrace_header(line))
            continue;
        if (countline_number(line, &count)) {
            ended |= frame;
            continue;
        }
        frame = true;
        *stap += span_begins(s, "0x") && span_find(s, " : ") != NULL;
        *dtrace += s.s != line.s && (span_chr(s, '`') != SIZE_MAX || span_find(s, "+0x"));
    }
    return ended;
}

int collapse_dtrace_probe(const char *text, size_t len)
{
    size_t dtrace, stap;

    return dtrace_count_shapes(text, len, &dtrace, &stap) && dtrace > stap ? 70 : 0;
}
