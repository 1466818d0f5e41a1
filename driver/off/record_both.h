/*
 * record_both.h: memory and waits of a running process, from now on, over the same time.
 */
#ifndef FLAME_DRIVER_OFF_RECORD_BOTH_H
#define FLAME_DRIVER_OFF_RECORD_BOTH_H

#include "driver/run/recording.h"

/* Records the one process of a struct off_options until its duration is over, the process and those
 * that it started have ended, or SIGINT, SIGTERM or SIGHUP comes. */
recording_maker record_both_attached;

#endif
