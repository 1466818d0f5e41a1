/*
 * launch.h: runs a command as if flame were not there, but with the recorder in it.
 *
 * The command has flame's standard streams, terminal and process group, and the signal mask and
 * dispositions that flame was started with. While it runs, SIGINT and SIGQUIT of the terminal
 * are the command's alone. SIGTERM, SIGHUP, SIGUSR1 and SIGUSR2 that another process sends to
 * flame are passed on to it.
 *
 * One launch at a time in a process: signal handlers need a global.
 */
#ifndef FLAME_DRIVER_RUN_LAUNCH_H
#define FLAME_DRIVER_RUN_LAUNCH_H

#include "common/compiler.h"

/*
 * Finds libflamemem.so: FLAME_MEM_SHIM if set, else beside flame's executable (a build tree),
 * else in ../lib/flame from there (an installation). 0: *path is the absolute file name, the
 * caller frees it. FLAME_USAGE after a line.
 */
int launch_find_shim(char **path);

/*
 * Replaces *shim, of launch_find_shim, by the recorder for musl, if the program at `path` uses
 * musl and that recorder exists in a folder "musl" beside the other. Does nothing if
 * FLAME_MEM_SHIM is set.
 */
void launch_choose_shim(const char *path, char **shim);

/* Finds the library `name` of flame's own as launch_find_shim does; no variable names it. 0:
 * *path is the absolute file name, the caller frees it. FLAME_USAGE after a line. */
int launch_find_library(const char *name, char **path);

/* A list as LD_PRELOAD has it: `first`, then `rest` (NULL or "": nothing). The caller frees
 * it. */
char *launch_preload_list(const char *first, const char *rest);

/* Options for the recorder: `out=PATH`; then `user`, the user's own FLAMEMEM_OPTIONS (NULL:
 * none), without their out=; then `own` (NULL: none), which wins as the last of its kind. The
 * caller frees it. */
char *launch_options(const char *out, const char *user, const char *own);

struct launch_result {
    uint32_t pid;        /* the command's; 0: flame did not start it */
    int wait_status;     /* as waitpid gives it */
    uint64_t start_ns;   /* CLOCK_MONOTONIC */
    uint64_t elapsed_ns; /* from before the fork to the end of the command */
    uint64_t
        max_resident; /* bytes: the largest of the command and of the processes it waited for */
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
 * If a signal ended the command, ends this process by the same signal, without a core file of
 * its own. Returns otherwise, and when the signal does not end this process.
 */
void launch_die_alike(int wait_status);

#endif
