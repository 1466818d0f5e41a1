/*
 * record_faults.h: the page faults of a run, read by a thread beside the command, into a trace in
 * the run's directory.
 */
#ifndef FLAME_DRIVER_RUN_RECORD_FAULTS_H
#define FLAME_DRIVER_RUN_RECORD_FAULTS_H

#include "driver/rundir/rundir.h"
#include "driver/run/runopts.h"

struct record_faults;

/*
 * Call it in the thread that next starts the command, whose faults are recorded from its exec on.
 * 0, or an enum flame_exit after a line, for example because the kernel refuses.
 */
int record_faults_begin(struct record_faults **to, const struct rundir *dir,
                        const struct run_options *o);
/* Whether the kernel lets a process record its own page faults. 0, or FLAME_FAILED after a line
 * with the reason. */
int record_faults_check(const struct run_options *o);
/* Call it when the command has ended: reads the remaining faults, and reports lost ones. Does
 * nothing for NULL. */
void record_faults_end(struct record_faults *f, bool quiet);

#endif
