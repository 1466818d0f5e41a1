/*
 * exec_env.h: decides whether a program that is about to be executed gets the recorder's library in
 * its environment.
 *
 * LD_PRELOAD reaches all programs that a program starts, and some of them cannot run with the
 * library. A musl program ends in its loader, one of gcc's sanitizers refuses to run, a 32-bit one
 * complains on standard error. So the target is examined before it is executed
 * (common/preloadable.h). If the library cannot work there, the target is executed with a copy of
 * the environment that lacks it. Each program that will not be recorded is noted in the run's
 * status file (run_status_client.h). The caller's environment is never written to, and exec returns
 * the same results at the same moments as without the recorder.
 *
 * All functions may be called between vfork and exec and in signal handlers. They take no lock and
 * allocate nothing but pages for large environments (common/env/preloadlist.h), which are freed
 * when exec fails. They need 5 KiB of stack, and 6 more to search PATH. errno is preserved.
 */
#ifndef FLAME_PRELOAD_RUNTIME_EXEC_ENV_H
#define FLAME_PRELOAD_RUNTIME_EXEC_ENV_H

#include "common/env/preloadlist.h"
#include "common/run_status.h"
#include "preload/runtime/config.h"

struct exec_env {
    char *const *envp; /* the environment to execute with: the caller's own, or a copy */
    uint32_t note;     /* the note's slot in the status file; 0: none */
    struct preloadlist_copy without;
};

/* Sets the options that the functions below use (borrowed). Before that they change nothing. */
void exec_env_set(const struct config *c);

/* To be called before process `pid` (0: exec_env_end gets the pid) executes the program at `path`
 * with `envp` (NULL: an empty one). `name`: the program's name for messages. */
void exec_env_begin(struct exec_env *h, const char *path, const char *name, char *const *envp,
                    uint32_t pid);

/* Like exec_env_begin, for execvp and its like: `name` is searched for in PATH unless it has a
 * slash. A file of unknown format is executed by the shell. */
void exec_env_begin_search(struct exec_env *h, const char *name, char *const *envp, uint32_t pid);

/* To be called after the program was spawned as `pid`, or was not executed (pid 0). */
void exec_env_end(struct exec_env *h, uint32_t pid);

#endif
