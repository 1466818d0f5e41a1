/* Xcode Instruments: its own table. */
#include "fold/collapse/indented.h"
#include "fold/collapse/readers.h"
#include "fold/profiles/csvtable.h"
#include "fold/stacks/span.h"

void collapse_instruments_csv_run(struct collapse *c)
{
    struct indented t;
    struct csvread v;

    csvread_init(&v);
    indented_init(&t, c, false, ROOT_FIRST);
    if (csvtable_find_head(c, &v, "Self*", "Symbol Name*")) {
        size_t self = csvread_column(&v, "Self*");
        size_t symbol = csvread_column(&v, "Symbol Name*");

        while (csvtable_next_row(c, &v)) {
            struct span name = csvread_field(&v, symbol);
            struct span number = csvread_field(&v, self);
            struct stackset_count count;
            size_t depth = span_blanks(name);

            name = span_rtrim(span_from(name, depth));
            if (name.len == 0 || !indented_time(number.s, number.len, false, &count)) {
                csvtable_not_understood(c, &v);
                continue;
            }
            indented_add(&t, depth, collapse_name(c, name.s, name.len), &count);
        }
    }
    indented_end(&t);
    indented_release(&t);
    csvread_release(&v);
}

int collapse_instruments_csv_probe(const char *text, size_t len)
{
    return csvtable_has_head(text, len, "Self*", "Symbol Name*") ? 90 : 0;
}
