/* Stacks with their count in a line of its own; see countline.h. */
#include "fold/collapse/countline.h"

bool countline_number(struct span s, struct stackset_count *count)
{
    s = span_trim(s);
    return s.len > 0 && span_digits(s) == s.len && stackset_count_parse(s.s, s.len, count);
}

void countline_run(struct collapse *c, bool (*is_header)(struct span line),
                   void (*add_frame)(struct collapse *c, struct span frame))
{
    struct stackset_count count;
    struct textrecord rec;

    while (textinput_record(&c->in, &rec)) {
        struct span frame = span_ltrim(rec.line);

        if (frame.len == 0)
            continue;
        if (countline_number(rec.line, &count)) {
            if (c->n > 0)
                collapse_flush(c, LEAF_FIRST, &count);
        } else if (!is_header(rec.line)) {
            add_frame(c, frame);
        }
    }
    if (c->n > 0) /* no count came */
        collapse_unknown(c, "end of file inside a stack", 26);
    collapse_drop(c);
}

bool countline_is_preamble(const char *text, size_t len, const char *const *words)
{
    struct span rest = {text, len}, line;
    bool said = false;

    while (span_line(&rest, &line)) {
        const char *const *w = words;

        if (span_trim(line).len == 0)
            continue;
        while (*w && !span_begins(line, *w))
            w++;
        if (!*w)
            return false;
        said = true;
    }
    return said;
}
