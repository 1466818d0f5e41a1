/*
 * trial.h: flame, run by itself to see what comes of it.
 *
 * What a machine allows is asked of nobody but the machine: settings, capabilities, filters and
 * containers say it together or not at all. Not thread-safe.
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

/* A process of ours that does nothing until trial_end, for attaching to. -1: it cannot be. */
int trial_victim(void);
void trial_end(int pid);

#endif
