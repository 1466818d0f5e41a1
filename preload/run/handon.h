/*
 * handon.h: what of the recorder is handed on to a program that is about to be executed.
 *
 * LD_PRELOAD reaches whatever a program starts, and some of it cannot live with the
 * library: a musl program ends in its loader, one of gcc's sanitizers refuses to run, a
 * 32-bit one complains on standard error. So the target is looked at before it is
 * executed (common/preloadable.h), and where the library cannot work it is executed with
 * a copy of the environment that lacks it. Whoever will not be recorded is left word of
 * (notes.h). The environment the caller gave is never written to, and what exec returns,
 * and when, stays as it was.
 *
 * All of it may be called between vfork and exec and in signal handlers: it takes no lock and
 * allocates nothing but pages for large environments (common/env/preloadlist.h), which are given
 * back when exec fails. It needs 5 KiB of stack, and 6 more to search PATH. errno stays.
 */
#ifndef FLAME_PRELOAD_RUN_HANDON_H
#define FLAME_PRELOAD_RUN_HANDON_H

#include "common/env/preloadlist.h"
#include "common/runnotes.h"
#include "preload/run/config.h"

struct handon {
    char *const *envp; /* to execute with: the caller's own, or a copy */
    uint32_t note;     /* notes.h's slot; 0: none */
    struct preloadlist_copy without;
};

/* Sets what the functions below decide by (borrowed). Before that they change nothing. */
void handon_set(const struct config *c);

/* Process `pid` (0: handon_end will tell) is about to execute the program at `path` with
 * `envp` (NULL: an empty one). `name`: what to call it. */
void handon_begin(struct handon *h, const char *path, const char *name, char *const *envp,
                  uint32_t pid);

/* The same for `name`, which is looked up in PATH unless it has a slash, and given to the
 * shell when it is of no known format, as execvp does. */
void handon_begin_search(struct handon *h, const char *name, char *const *envp, uint32_t pid);

/* To be called when the program was spawned as `pid`, or was not executed (pid 0). */
void handon_end(struct handon *h, uint32_t pid);

#endif
