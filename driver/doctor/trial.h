/*
 * trial.h: trials: flame runs itself and sees what comes of it.
 *
 * Only a trial shows what a machine allows: settings, capabilities, filters and containers decide
 * it together. Not thread-safe.
 */
#ifndef FLAME_DRIVER_DOCTOR_TRIAL_H
#define FLAME_DRIVER_DOCTOR_TRIAL_H

#include "common/strbuf.h"

/*
 * Runs "flame ARGS..." (NULL ends them) with `dir` for temporary files and nothing on its standard
 * streams; what it says is in `said`: its first line without "flame: ". The exit status; as a shell
 * has it, 128 and more is a signal.
 */
int trial_run(const char *dir, const char *const *args, struct strbuf *said);

/* Starts a process that does nothing until trial_end, to attach to. -1: it cannot be started. */
int trial_victim(void);
void trial_end(int pid);

#endif
