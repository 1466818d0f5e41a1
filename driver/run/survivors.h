/*
 * survivors.h: recorded processes that still run when the command has ended.
 */
#ifndef FLAME_DRIVER_RUN_SURVIVORS_H
#define FLAME_DRIVER_RUN_SURVIVORS_H

#include <stdbool.h>

#include "common/strbuf.h"
#include "driver/monitor/run_totals.h"

/*
 * Whether process `pid` has a file of directory `dir` mapped. Every process that records into the
 * directory has. A later process with this number has not, nor has the process with that number
 * here if `pid` is of another pid namespace.
 */
bool process_maps_dir(uint32_t pid, const char *dir);

/* Appends "NAME PID, NAME PID" of the processes that still record into `dir`, at most `most` of
 * them; returns how many there are. */
size_t survivors_list(struct strbuf *sb, const struct run_totals *taken, const char *dir,
                      size_t most);

#endif
