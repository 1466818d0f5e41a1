/*
 * liverun.h: the recorder of a program that `flame live` starts, in a process of its own.
 *
 * The program is run and recorded as by `flame mem -q -o RESULT` or `flame off -q -o RESULT`, by
 * the same functions, with one difference: the directory of the run is made in a given one, where
 * the viewer finds the traces while they are written. TMPDIR does not give it, as that is the
 * program's.
 */
#ifndef FLAME_DRIVER_LIVE_LIVERUN_H
#define FLAME_DRIVER_LIVE_LIVERUN_H

#include "driver/live/liverecorder.h"

/*
 * Runs `command` and records it, with the run's directory in `dir`, and leaves the traces as
 * `result`, which ends in .flame (of several processes: RESULT.2.flame and so on). One call in a
 * process. Returns the command's exit status, or an enum flame_exit after a line; ends by the
 * signal the command died of.
 */
int liverun(enum live_what what, char **command, const char *dir, const char *result);

#endif
