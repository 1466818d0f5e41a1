/* Visual Studio: the table of the call tree. */
#include "fold/collapse/indented.h"
#include "fold/collapse/readers.h"
#include "fold/profiles/csvtable.h"
#include "fold/stacks/span.h"

void collapse_vsprof_run(struct collapse *c)
{
    struct indented t;
    struct csvread v;

    csvread_init(&v);
    indented_init(&t, c, true, ROOT_FIRST);
    if (csvtable_find_head(c, &v, "Level", "Function Name")) {
        size_t level = csvread_column(&v, "Level");
        size_t function = csvread_column(&v, "Function Name");
        size_t samples = csvread_column(&v, "Inclusive Samples");

        if (samples == SIZE_MAX)
            samples = function + 1;
        while (csvtable_next_row(c, &v)) {
            struct span name = csvread_field(&v, function);
            struct stackset_count depth, count;

            if (!csvtable_count(span_trim(csvread_field(&v, level)), &depth) ||
                !csvtable_count(csvread_field(&v, samples), &count)) {
                csvtable_not_understood(c, &v);
                continue;
            }
            if (depth.whole == 0)
                continue;
            /* Blanks inside of names come and go with the version; none are kept. */
            strbuf_clear(&c->scratch);
            for (size_t i = 0; i < name.len; i++)
                if (!is_blank_ch(name.s[i]))
                    strbuf_addch(&c->scratch, name.s[i]);
            indented_add(&t, depth.whole - 1, collapse_name(c, c->scratch.buf, c->scratch.len),
                         &count);
        }
    }
    indented_end(&t);
    indented_release(&t);
    csvread_release(&v);
}

int collapse_vsprof_probe(const char *text, size_t len)
{
    return csvtable_has_head(text, len, "Level", "Function Name") ? 90 : 0;
}
