/*
 * record_attach.h: records memory of a running process from now on (inject/).
 */
#ifndef FLAME_DRIVER_RUN_RECORD_ATTACH_H
#define FLAME_DRIVER_RUN_RECORD_ATTACH_H

#include "driver/run/recording.h"

/* Records o->attach until o->attach_ns are over, the process ends, or SIGINT, SIGTERM or SIGHUP
 * comes. */
recording_maker record_attach;

/* Prints the summary: counts of recorded and of lost calls. */
void record_attach_print(const struct recording *r, const struct run_options *o);

/* Rejects options that do not work with a running process: 0, or FLAME_USAGE after a line. */
int record_attach_check(const struct run_options *o);

#endif
