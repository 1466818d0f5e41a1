/* Intel VTune: tables of top-down hotspots or memory. */
#include "fold/collapse/indented.h"
#include "fold/collapse/readers.h"
#include "fold/profiles/csvtable.h"
#include "fold/stacks/span.h"

/*
 * Hotspots ("CPU Time:Self") are named module!function, in milliseconds; memory
 * ("Allocations:Self") is function(module), in calls.
 */
void collapse_vtune_run(struct collapse *c)
{
    size_t stack, module, self;
    struct indented t;
    struct csvread v;
    bool memory;

    csvread_init(&v);
    indented_init(&t, c, false, ROOT_FIRST);
    if (!csvtable_find_head(c, &v, "Function Stack", NULL))
        goto out;
    stack = csvread_column(&v, "Function Stack");
    module = csvread_column(&v, "Module*");
    self = csvread_column(&v, "Allocations:Self");
    memory = self != SIZE_MAX;
    if (!memory)
        self = csvread_column(&v, "CPU Time:Self*");
    if (self == SIZE_MAX)
        self = v.n - 1;
    while (csvtable_next_row(c, &v)) {
        struct span name = csvread_field(&v, stack), where, number;
        struct stackset_count count = {0, 0};
        size_t depth = span_blanks(name);
        struct strbuf *full = &c->scratch;

        where = csvread_field(&v, module);
        number = span_trim(csvread_field(&v, self));
        name = span_from(name, depth);
        if (number.len && !(memory ? stackset_count_parse(number.s, number.len, &count)
                                   : indented_time(number.s, number.len, true, &count))) {
            csvtable_not_understood(c, &v);
            continue;
        }
        strbuf_clear(full);
        if (!memory && module != SIZE_MAX) {
            strbuf_add(full, where.s, where.len);
            strbuf_addch(full, '!');
        }
        strbuf_add(full, name.s, name.len);
        if (memory && module != SIZE_MAX) {
            strbuf_addch(full, '(');
            strbuf_add(full, where.s, where.len);
            strbuf_addch(full, ')');
        }
        indented_add(&t, depth, collapse_name(c, full->buf, full->len), &count);
    }
out:
    indented_end(&t);
    indented_release(&t);
    csvread_release(&v);
}

int collapse_vtune_probe(const char *text, size_t len)
{
    return csvtable_has_head(text, len, "Function Stack", NULL) ? 90 : 0;
}
