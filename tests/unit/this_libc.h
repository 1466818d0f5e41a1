/*
 * this_libc.h: what the C library that a test runs with lets be seen from inside (inside/).
 */
#ifndef FLAME_TESTS_UNIT_THIS_LIBC_H
#define FLAME_TESTS_UNIT_THIS_LIBC_H

#include <stdbool.h>

/* Whether the loader puts inside/gate.h's library where it is linked for. Until glibc 2.35 it takes
 * no notice of that when the program is position-independent, as tests are: the waits of such a
 * program are seen from outside. */
bool gate_can_be_placed(void);

/* Whether cancellation points' calls can be noted also when the process has several threads. From
 * glibc 2.41 on they have to be marked for that (inside/mark.h), which not every kernel permits. */
bool cancellation_points_are_noted(void);

#endif
