/*
 * acts.h: what the programs do that the event source is tested on; each is played in a
 * process of its own, by executing the test with the act's name as its argument.
 */
#ifndef FLAME_TESTS_UNIT_ACTS_H
#define FLAME_TESTS_UNIT_ACTS_H

#include "common/compiler.h"

/* Plays it; its exit status, or -1 when there is no such act. */
int act(const char *name);

#endif
