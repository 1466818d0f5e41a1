/* Compares the table of calls with the text of each row (calls_rows.h), column by column. */
#include <string.h>

#include "tests/tap.h"
#include "tests/unit/calls_rows.h"

int main(void)
{
    struct strbuf said = STRBUF_INIT;
    const struct call_row *rows;
    const struct call *table;
    size_t n, nrows;

    table = call_table(&n);
    rows = call_rows(&nrows);
    is_int((intmax_t)n, (intmax_t)nrows, "the table and the rows have equally many calls");
    for (size_t i = 0; i < n; i++) {
        const struct call *c = &table[i];
        const struct call_row *row = call_row_of(c->nr);

        if (!row) {
            ok(false, "%s: a row has the table's number of this name", c->name);
            continue;
        }
        is_str(c->name, row->name, "%s: the table has the row's name for number %d", row->name,
               row->nr);
        is_str(call_shown(c->nr), row->shown ? row->shown : row->name,
               "%s: the name of its frame is that of its row", row->name);
        is_int(call_makes_child(c), strstr(row->says, "vforked") || strstr(row->says, "cloned"),
               "%s: it makes a child if its row says so", row->name);
        strbuf_clear(&said);
        call_row_say(c, row, &said);
        is_str(said.buf, row->says, "%s: the table's columns give the row's text", row->name);
    }
    for (size_t i = 0; i < nrows; i++)
        for (size_t k = 0; k < i; k++)
            if (rows[i].nr == rows[k].nr)
                ok(false, "%s and %s have one number", rows[i].name, rows[k].name);
    strbuf_release(&said);
    return done_testing();
}
