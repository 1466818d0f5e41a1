/*
 * calls_rows.h: expected rows of the table of system calls (tracer/offcpu/calls.c), written
 * independently of it: in the words of the manual, and in another order.
 *
 * Here a call's number comes from its name (SYS_name, as the kernel has it), and an argument's
 * index from the parameter's name in the manual. test_calls_rows compares every column of every row
 * with this. test_calls_trials makes the calls by these names, so that the kernel shows a name in
 * the wrong place.
 */
#ifndef FLAME_TESTS_UNIT_CALLS_ROWS_H
#define FLAME_TESTS_UNIT_CALLS_ROWS_H

#include "common/strbuf.h"
#include "tracer/offcpu/calls.h"

struct call_row {
    int nr;
    const char *name;
    const char *parameters; /* their names, in order */
    /* Its object, flags, and the other columns with a value: OBJECT(PARAMETER) FLAG...
     * COLUMN(PARAMETER)... as call_row_say writes them. */
    const char *says;
    const char *shown; /* NULL: its name */
};

/* All rows, in no order. Static memory. */
const struct call_row *call_rows(size_t *n);
const struct call_row *call_row_of(int nr); /* NULL: there is none */

/* Index of the call's parameter of that name; -1: there is none. */
int call_row_parameter(const struct call_row *row, const char *name);

/* Appends the table's row of a call, in the words of `says`. */
void call_row_say(const struct call *c, const struct call_row *row, struct strbuf *out);

#endif
