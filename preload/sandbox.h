/*
 * sandbox.h: the system calls that this process may still make.
 *
 * A program that enters a seccomp sandbox gives up system calls, and with them the recorder's: a
 * forbidden call may end the program. The recorder sees the entry (prctl and syscall are
 * interposed), and does two things. Before it, the recorder acquires the resources that it will
 * need: memory, room in the trace, names. After it, each of the recorder's calls is first checked
 * against a copy of the program's own filter (the gate of common/kernel.h), and made only if the
 * filter allows it. Events that cannot be recorded then are counted in the trace.
 *
 * Limits: a filter that the program installs by its own instruction, without the C library, is not
 * seen. A filter that was in force when the program started is seen, but its rules are not known;
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
 * To be called first when recording begins. If filters are already in force, and more than process
 * 1 has, their rules are unknown. The recorder then makes only system calls that the loader has
 * just made itself. It also learns which process this is. `filtered`: one of the filters belongs to
 * flame's own tracer and forbids nothing.
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
