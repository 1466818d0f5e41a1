/*
 * liverun.h: the recorder of a program that `flame live` starts, in a process of its own.
 *
 * The program is run and recorded as by `flame mem -q -o RESULT` or `flame off -q -o RESULT`, by
 * the same functions, with one difference: the directory of the run is created in the directory
 * `dir`, where the viewer finds the traces while they are written. TMPDIR cannot select it, as the
 * program inherits TMPDIR.
 */
#ifndef FLAME_DRIVER_LIVE_LIVERUN_H
#define FLAME_DRIVER_LIVE_LIVERUN_H

#include "driver/live/liverecorder.h"

/*
 * Runs `command` and records it, with the run's directory in `dir`, and writes the traces to
 * `result`, which ends in .flame (of several processes: RESULT.2.flame and so on). Call it once in
 * a process. Returns the command's exit status, or an enum flame_exit after a line; ends by the
 * signal that ended the command.
 */
int liverun(enum live_what what, char **command, const char *dir, const char *result);

#endif
