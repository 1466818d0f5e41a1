/* Xcode Instruments: the tree that Edit > Deep Copy gives, callees below callers. */
#include "fold/collapse/indented.h"
#include "fold/collapse/readers.h"
#include "fold/stacks/span.h"

/* "1.00 ms    0.1%<tab>1.00 ms<tab> <tab>  name": total, its share, self, depth by blanks. */
static bool instruments_line(struct span line, size_t *depth, struct stackset_count *count,
                             struct span *name)
{
    size_t percent = span_chr(line, '%');
    const char *tab = span_find(line, "\t \t");
    struct span self;

    if (percent == SIZE_MAX || !tab || (size_t)(tab - line.s) <= percent)
        return false;
    self = span_trim(span_to(span_from(line, percent + 1), (size_t)(tab - line.s) - percent - 1));
    if (!is_digit_ch(line.s[0]) || !indented_time(self.s, self.len, false, count))
        return false;
    *name = span_from(line, (size_t)(tab - line.s) + 3);
    *depth = span_blanks(*name);
    *name = span_rtrim(span_from(*name, *depth));
    return name->len > 0;
}

static void to_whole(struct stackset_count *c)
{
    struct stackset_count half = {0, STACKSET_PART / 2};

    stackset_count_add(c, &half);
    c->part = 0;
}

void collapse_instruments_run(struct collapse *c)
{
    struct indented t;
    struct stackset_count count;
    struct textrecord rec;
    struct span name;
    size_t depth;

    indented_init(&t, c, false, ROOT_FIRST);
    while (textinput_record(&c->in, &rec)) {
        struct span line = rec.line;

        if (instruments_line(line, &depth, &count, &name)) {
            to_whole(&count);
            indented_add(&t, depth, collapse_name(c, name.s, name.len), &count);
        } else if (c->in.line > 1 && span_trim(line).len) {
            collapse_unknown(c, line.s, line.len);
        }
    }
    indented_end(&t);
    indented_release(&t);
}

int collapse_instruments_probe(const char *text, size_t len)
{
    struct span rest = {text, len}, line, name;
    struct stackset_count count;
    size_t depth;

    while (span_line(&rest, &line))
        if (instruments_line(line, &depth, &count, &name))
            return 90;
    return 0;
}
