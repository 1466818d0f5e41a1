/*
 * acts.h: small programs (acts) for tests of the event source. Each runs in a process of its own:
 * the test executes itself with the act's name as its argument.
 */
#ifndef FLAME_TESTS_UNIT_ACTS_H
#define FLAME_TESTS_UNIT_ACTS_H

#include "common/compiler.h"

/* Runs the act; its exit status, or -1 when there is no such act. */
int act(const char *name);

#endif
