/*
 * trial.h: trials: flame runs itself and checks the result.
 *
 * Only a trial shows what a machine allows: settings, capabilities, filters and containers decide
 * it together. Not thread-safe.
 */
#ifndef FLAME_DRIVER_DOCTOR_TRIAL_H
#define FLAME_DRIVER_DOCTOR_TRIAL_H

#include "common/strbuf.h"

/*
 * Runs "flame ARGS..." (NULL ends them) with `dir` for temporary files and empty standard streams;
 * `said` gets the first line of its output, without "flame: ". Returns the exit status; as in a
 * shell, 128 and more is a signal.
 */
int trial_run(const char *dir, const char *const *args, struct strbuf *said);

/* A program that can be recorded, and an argument with which it ends at once: flame itself, or
 * where that is linked statically the system's shell. */
const char *trial_program(void);
const char *trial_argument(void);

/* Starts a process that does nothing until trial_end, to attach to. -1: it cannot be started. */
int trial_victim(void);
void trial_end(int pid);

#endif
