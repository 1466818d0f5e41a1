/*
 * calls_rows.h: what each row of the table of system calls (tracer/sleeps/calls.c) has to say,
 * written down a second time: in the words of the manual, and in an order of its own.
 *
 * A call's number is found by its name here (SYS_name, as the kernel has it), and which argument
 * is which by the names its parameters have in the manual. test_calls_rows compares every column
 * of every row with this; test_calls_trials makes the calls by these names, so that a name in the
 * wrong place is noticed by the kernel.
 */
#ifndef FLAME_TESTS_UNIT_CALLS_ROWS_H
#define FLAME_TESTS_UNIT_CALLS_ROWS_H

#include "common/strbuf.h"
#include "tracer/sleeps/calls.h"

struct call_row {
    int nr;
    const char *name;
    const char *parameters; /* their names, in order */
    /* What it is on, its flags, and the other columns that say something: OBJECT(PARAMETER) FLAG...
       COLUMN(PARAMETER)... as call_row_say writes them. */
    const char *says;
    const char *shown; /* NULL: its name */
};

/* All of them, in no order. Static memory. */
const struct call_row *call_rows(size_t *n);
const struct call_row *call_row_of(int nr); /* NULL: there is none */

/* Which parameter of the call has that name; -1: none has. */
int call_row_parameter(const struct call_row *row, const char *name);

/* Appends what the table says of a call, in the words of `says`. */
void call_row_say(const struct call *c, const struct call_row *row, struct strbuf *out);

#endif
