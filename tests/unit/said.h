/*
 * said.h: what code under test says on standard error.
 *
 *     said_begin();
 *     ...
 *     is_str(said_end(), "flame: ...\n", "it says why");
 */
#ifndef FLAME_TESTS_UNIT_SAID_H
#define FLAME_TESTS_UNIT_SAID_H

/* From here on standard error goes to a file. Not nested. */
void said_begin(void);
/* Standard error is as before; its text (up to 4,095 bytes), good until the next call. */
const char *said_end(void);

#endif
