/*
 * kept_coverage.h: which processes of a run were not searched for who keeps their memory.
 */
#ifndef FLAME_DRIVER_RUN_KEPT_COVERAGE_H
#define FLAME_DRIVER_RUN_KEPT_COVERAGE_H

#include "driver/run/recording.h"

/* Prints a line with them, if there are any, and a line about heaps of interpreters (runtimes.h).
 * A process that executed another program was searched if any of its programs was. For a run with
 * --kept. */
void kept_coverage_print(const struct recording *r);

#endif
