/* The wall clock profiler on gdb: its full stacks. */
#include "fold/collapse/readers.h"
#include "fold/stacks/span.h"

/* "99.791% ======== (17194 samples)" */
static bool wcp_samples(struct span line, struct stackset_count *count)
{
    const char *open = span_find(line, " (");
    struct span n;

    if (!open || !span_ends(line, " samples)") || !span_find(line, "% ="))
        return false;
    n = span_from(line, (size_t)(open - line.s) + 2);
    return stackset_count_parse(n.s, span_digits(n), count);
}

void collapse_wcp_run(struct collapse *c)
{
    struct stackset_count count = {0, 0};
    struct textrecord rec;
    bool started = false;

    while (textinput_record(&c->in, &rec)) {
        struct span line = rec.line;
        size_t digits;

        line = span_trim(line);
        if (!started) {
            started = span_begins(line, "Full stacks");
            continue;
        }
        digits = span_digits(line);
        if (wcp_samples(line, &count)) {
            continue;
        } else if (digits && span_begins(span_from(line, digits), ": ")) {
            collapse_push(c, line.s + digits + 2, line.len - digits - 2);
        } else if (line.len == 0 && c->n > 0) {
            collapse_flush(c, LEAF_FIRST, &count);
        }
    }
    if (c->n > 0)
        collapse_flush(c, LEAF_FIRST, &count);
}

int collapse_wcp_probe(const char *text, size_t len)
{
    struct span all = {text, len};

    return span_find(all, "\nFull stacks") && span_find(all, " samples)") ? 90 : 0;
}
