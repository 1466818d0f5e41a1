/*
 * said.h: captures the messages of tested code on standard error.
 *
 *     said_begin();
 *     ...
 *     is_str(said_end(), "flame: ...\n", "the reason is printed");
 */
#ifndef FLAME_TESTS_UNIT_SAID_H
#define FLAME_TESTS_UNIT_SAID_H

/* Standard error goes to a file from now on. Not nested. */
void said_begin(void);
/* Restores standard error; its text (up to 4,095 bytes), valid until the next call. */
const char *said_end(void);

#endif
