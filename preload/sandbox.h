/*
 * sandbox.h: system calls that this process may still make.
 *
 * A program that enters a seccomp sandbox gives up system calls, and so gives up the recorder's: a
 * call that is not let through may end the program. Entering is seen (prctl and syscall are
 * interposed), and two things follow. Resources that the recorder will need are taken before:
 * memory, room in the trace, names. From then on each of its calls is first run past a copy of the
 * program's own filter (the gate of common/kernel.h) and made only if that allows it. Events that
 * cannot be recorded then are counted in the trace.
 *
 * The limit: a filter that is installed by an instruction of the program's own, without the C
 * library, is not seen. A filter that was there when the program was started is seen and not known;
 * see sandbox_begin.
 */
#ifndef FLAME_PRELOAD_SANDBOX_H
#define FLAME_PRELOAD_SANDBOX_H

#include <linux/filter.h>
#include <stdbool.h>

#include "common/kernel.h"

/* Whether the process has entered a sandbox. */
static inline bool sandbox_on(void)
{
    return unlikely(kernel_gatekeeper != NULL);
}

/*
 * To be called before anything else when recording begins. If there are filters in force already,
 * and more than process 1 has, their rules are unknown. Then the recorder makes no system call but
 * those that the loader has just made itself. It also learns which process this is. `filtered`: one
 * of the filters forbids nothing; it is that of flame's own tracer.
 */
void sandbox_begin(bool filtered);
/* To be called in a forked child, which has its parent's filters: learns which process this is. */
void sandbox_after_fork(void);

/* Whether a forked child may make a trace of its own. */
bool sandbox_allows_trace(void);

/* The program's own call that enters a sandbox. */
struct sandbox_entry {
    bool strict; /* SECCOMP_MODE_STRICT; otherwise `filter`, as the program passed it */
    const struct sock_fprog *filter;
    long (*call)(const unsigned long args[6]);
    const unsigned long *args;
    bool names_thread; /* a result above 0 is the thread for which it failed */
};

/*
 * Makes the call, with the steps that are needed before and after it. `prepare`: recording is on
 * and the guard is held. Returns the call's result; errno is the call's.
 */
long sandbox_enter(const struct sandbox_entry *entry, bool prepare);

#endif
