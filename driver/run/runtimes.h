/*
 * runtimes.h: runtimes of languages whose functions have no names in stacks by themselves.
 */
#ifndef FLAME_DRIVER_RUN_RUNTIMES_H
#define FLAME_DRIVER_RUN_RUNTIMES_H

#include "driver/run/recording.h"

/* Sentence about the names of functions under the runtime in the file `path`, for flame doctor.
 * NULL: it is none. */
const char *runtimes_advice(const char *path);

/* Sets variables of the environment by which runtimes that a command starts write the names of
 * their functions to /tmp/perf-PID.map. For --jit-names. */
void runtimes_ask_for_names(void);

/* Likewise for processes that run already, when they are detached: JVMs write their names now (17
 * and newer). One line for each that does not; other runtimes cannot be asked. */
void runtimes_ask_running(struct recording *r, const pid_t *pids, size_t n);

/* Prints, once for each, which runtimes ran functions that have no names, and what gives them
 * names or knows them. Interpreters that nothing gives names count only as the command itself, or
 * the process that was attached to. */
void runtimes_print_unnamed(const struct recording *r);

/* Prints, for a run that was searched for who keeps memory, once for each runtime that the command
 * or the process attached to is, what says who keeps its objects. */
void runtimes_print_heaps(const struct recording *r);

/* Likewise, of functions without names, for the trace of waiting, which is one for all processes:
 * about the command alone. */
void runtimes_print_unnamed_waits(const struct recording *r);

#endif
