/*
 * record_attach.h: memory of a process that runs already, recorded from now on (inject/).
 */
#ifndef FLAME_DRIVER_RUN_RECORD_ATTACH_H
#define FLAME_DRIVER_RUN_RECORD_ATTACH_H

#include "driver/run/recording.h"

/* Records o->attach until o->attach_ns are over, the process ends, or SIGINT, SIGTERM or SIGHUP
 * comes. */
recording_maker record_attach;

/* What was recorded, and what was not. */
void record_attach_print(const struct recording *r, const struct run_options *o);

/* What does not go with a process that runs: 0, or FLAME_USAGE after a line. */
int record_attach_check(const struct run_options *o);

#endif
