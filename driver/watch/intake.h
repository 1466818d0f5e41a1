/*
 * intake.h: takes the traces of processes that have ended in while the command runs.
 *
 * A build may become thousands of processes. The driver has nothing to do while it waits,
 * so a thread looks at the directory of the run now and then, reads the traces nobody writes
 * to any more, adds them up (taken.h) and gives their room on the disk back. What comes
 * of it is what would come of reading them all at the end.
 *
 * An emptied file is left as a spare for a process to come (common/runnotes.h).
 */
#ifndef FLAME_DRIVER_WATCH_INTAKE_H
#define FLAME_DRIVER_WATCH_INTAKE_H

#include "driver/files/rundir.h"
#include "driver/watch/taken.h"

struct intake;

/* Begins to look. Until intake_stop, `taken` belongs to the thread. NULL: there is no thread,
 * and everything is left for the end; intake_stop accepts that. */
struct intake *intake_start(struct rundir *rundir, struct taken *taken);

/* Ends looking. What is left in the directory is for rundir_collect. */
void intake_stop(struct intake *in);

/*
 * Whether the trace open as `fd` is complete: no process can write to it any more, neither
 * through a descriptor nor through a mapping. False when that cannot be known.
 */
bool intake_is_complete(int fd);

#endif
