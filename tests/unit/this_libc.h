/*
 * this_libc.h: features of the C library that a test runs with, as far as tests of inproc/ depend
 * on them.
 */
#ifndef FLAME_TESTS_UNIT_THIS_LIBC_H
#define FLAME_TESTS_UNIT_THIS_LIBC_H

#include <stdbool.h>

/* Whether the loader puts inproc/gate.h's library at the address that it is linked for. Until glibc
 * 2.35 it ignores that address when the program is position-independent, as tests are. The waits of
 * such a program are traced by stops. */
bool gate_can_be_placed(void);

/* Whether calls of cancellation points can be logged also when the process has several threads.
 * From glibc 2.41 on they have to be marked for that (inproc/syscall_mark.h), which not every
 * kernel permits. */
bool cancellation_points_are_noted(void);

#endif
