/* Windows Performance Analyzer (xperf): tables with a column of stacks. */
#include "fold/collapse/readers.h"
#include "fold/profiles/csvtable.h"
#include "fold/stacks/span.h"

/* "[Root]/ntdll.dll!RtlUserThreadStart/app.exe!main": root first, '/' between frames. */
static void wpa_stack(struct collapse *c, struct span stack)
{
    while (stack.len) {
        struct span frame = span_to(stack, span_chr(stack, '/'));

        stack = span_from(stack, frame.len + 1);
        frame = span_trim(frame);
        if (span_is(frame, "[Root]") || span_is(frame, "n/a"))
            continue;
        if (frame.len)
            collapse_push(c, frame.s, frame.len);
    }
}

static size_t wpa_process(const struct csvread *v)
{
    size_t column = csvread_column(v, "Process*");

    return column != SIZE_MAX ? column : csvread_column(v, "New Process*");
}

void collapse_wpa_run(struct collapse *c)
{
    struct csvread v;

    csvread_init(&v);
    if (csvtable_find_head(c, &v, "*", NULL) || v.n) {
        size_t process = wpa_process(&v), stack = csvread_column(&v, "Stack");
        size_t count_at = csvread_column(&v, "Count");

        if (stack == SIZE_MAX)
            stack = csvread_column(&v, "New Thread Stack");
        if (count_at == SIZE_MAX)
            count_at = csvread_column(&v, "Weight*");
        while (csvtable_next_row(c, &v)) {
            struct span name = span_trim(csvread_field(&v, process)), number, where;
            struct stackset_count count = {1, 0};

            number = span_trim(csvread_field(&v, count_at));
            where = span_trim(csvread_field(&v, stack));
            if (where.len == 0 || (number.len && !csvtable_count(number, &count))) {
                csvtable_not_understood(c, &v);
                continue;
            }
            if (name.len)
                collapse_push(c, name.s, name.len);
            /* "n/a" alone is no frame but half a name with a '/' in it. */
            if (!span_is(where, "n/a"))
                wpa_stack(c, where);
            if (c->n > 0)
                collapse_flush(c, ROOT_FIRST, &count);
        }
    }
    csvread_release(&v);
}

int collapse_wpa_probe(const char *text, size_t len)
{
    return csvtable_has_head(text, len, "Stack", "Process*") ||
                   csvtable_has_head(text, len, "New Thread Stack", "New Process*")
               ? 88
               : 0;
}
