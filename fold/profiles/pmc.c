/* FreeBSD: pmcstat -G, a tree with callers below callees. */
#include "fold/collapse/indented.h"
#include "fold/collapse/readers.h"
#include "fold/stacks/span.h"

/* " 70.59%  [12]        __mtx_unlock_flags @ /boot/kernel/kernel"; names may have blanks. */
static bool pmc_line(struct span line, size_t *depth, struct stackset_count *count,
                     struct span *name)
{
    const char *file;
    size_t n;

    *depth = span_indent(&line);
    for (n = 0; n < line.len && (is_digit_ch(line.s[n]) || line.s[n] == '.'); n++)
        continue;
    line = span_from(line, n);
    if (n == 0 || !span_begins(line, "%  ["))
        return false;
    line = span_from(line, 4);
    if (!indented_take_number(&line, count) || !span_begins(line, "]"))
        return false;
    line = span_from(line, 1);
    file = span_find(line, " @ ");
    *name = span_trim(file ? span_to(line, (size_t)(file - line.s)) : line);
    return name->len > 0;
}

void collapse_pmc_run(struct collapse *c)
{
    struct indented t;
    struct textrecord rec;
    struct span name;
    struct stackset_count count;
    size_t depth;

    indented_init(&t, c, true, LEAF_FIRST);
    while (textinput_record(&c->in, &rec)) {
        struct span line = rec.line;

        if (pmc_line(line, &depth, &count, &name)) {
            if (c->opt->perl)
                name = span_to(name, span_token(name));
            indented_add(&t, depth, collapse_name(c, name.s, name.len), &count);
        } else if (span_trim(line).len && line.s[0] != '@')
            collapse_unknown(c, line.s, line.len);
    }
    indented_end(&t);
    indented_release(&t);
}

int collapse_pmc_probe(const char *text, size_t len)
{
    struct span rest = {text, len}, line, name;
    struct stackset_count count;
    size_t depth;

    while (span_line(&rest, &line))
        if (pmc_line(line, &depth, &count, &name))
            return 85;
    return 0;
}
