/*
 * launch.h: runs a command as if we were not there, but with the recorder in it.
 *
 * The command has our standard streams, our terminal, our process group and the
 * signal mask and dispositions we were started with. While it runs, SIGINT and
 * SIGQUIT of the terminal are the command's alone, and SIGTERM, SIGHUP, SIGUSR1
 * and SIGUSR2 that somebody sends to us are passed on to it.
 *
 * One launch at a time in a process: signal handlers need a global.
 */
#ifndef FLAME_DRIVER_RUN_LAUNCH_H
#define FLAME_DRIVER_RUN_LAUNCH_H

#include "common/compiler.h"

/*
 * Finds libflamemem.so: FLAME_MEM_SHIM if set, else beside our executable (a
 * build tree), else in ../lib/flame from there (an installation). 0: *path is
 * the absolute file name, the caller frees it. FLAME_USAGE after a line.
 */
int launch_find_shim(char **path);

/*
 * Has *shim, of launch_find_shim, be the recorder for musl where the program at `path` uses that
 * and the recorder is there: in a folder "musl" beside the other. Not where FLAME_MEM_SHIM is set.
 */
void launch_choose_shim(const char *path, char **shim);

/* The same for another library of ours, which no variable names. */
int launch_find_library(const char *name, char **path);

/* A list as LD_PRELOAD has it: `first`, then `rest` (NULL or "": nothing). The caller frees
 * it. */
char *launch_preload_list(const char *first, const char *rest);

/* Options for the recorder: `out=PATH`, then what the user's own FLAMEMEM_OPTIONS
 * says (NULL: nothing) without its out=, then `own` (NULL: nothing), which wins
 * as the last of its kind. The caller frees it. */
char *launch_options(const char *out, const char *user, const char *own);

struct launch_result {
    uint32_t pid;          /* the command's; 0: it was not started by us */
    int wait_status;       /* as waitpid gives it */
    uint64_t start_ns;     /* CLOCK_MONOTONIC */
    uint64_t elapsed_ns;   /* from before the fork to the end of the command */
    uint64_t max_resident; /* bytes: the largest of the command and of those it waited for */
};

/*
 * Runs argv (found as execvp does) with LD_PRELOAD and FLAMEMEM_OPTIONS set to
 * these and waits for its end. 0, or an enum flame_exit after a line when it
 * could not be started.
 */
int launch_run(char **argv, const char *preload, const char *options, struct launch_result *result);

/* The command's exit status as a shell shows it: its own, or 128 + signal. */
int launch_exit_status(int wait_status);

/*
 * When the command was ended by a signal: ends this process by the same one,
 * without a core file of our own. Returns otherwise, and when the signal is one
 * that does not end us.
 */
void launch_die_alike(int wait_status);

#endif
