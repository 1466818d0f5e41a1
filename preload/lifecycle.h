/*
 * lifecycle.h: when recording begins, what fork does to it, when it gives up.
 *
 * Recording begins with the first event, which may come from another library's
 * constructor. `lifecycle_armed` is one load on the hot path; it lies in a page
 * that the kernel wipes in a forked child (MADV_WIPEONFORK), so the child notices
 * at its first event, however it was forked, and starts a trace of its own. A
 * child of vfork shares our memory and goes on in its parent's trace.
 */
#ifndef FLAME_PRELOAD_LIFECYCLE_H
#define FLAME_PRELOAD_LIFECYCLE_H

#include <stdbool.h>

#include "common/compiler.h"

extern volatile uint32_t *lifecycle_armed;

/* The slow side of lifecycle_on; the guard is held at GUARD_RECORDING. */
bool lifecycle_begin(void);

/* Ends recording in this process for good. Other threads may be in the middle of an event:
 * what they use stays. May be called in a signal handler. */
void lifecycle_end(void);

/* A part of the shim that lies on top of the recorder and is told of these moments. */
struct config;
struct lifecycle_listener {
    /* The options are known; nothing has been mapped yet but the run's notes. */
    void (*started)(const struct config *config);
    void (*forked)(void); /* in a forked child */
};

/* The look for leaks (preload/leak/hooks_exit.c), the watch of frees (preload/misuse/), what
 * the program asks for itself (preload/asked/hooks_asked.c), the look at what is resident,
 * lifetimes, page faults, and names of Python's functions. */
extern const struct lifecycle_listener lifecycle_leak, lifecycle_misuse, lifecycle_asked,
    lifecycle_resident, lifecycle_lifetimes, lifecycle_touched, lifecycle_python;

/* Whether anything is to be done when the process ends, by any part. */
extern bool lifecycle_end_wanted;

/* Looks at what of the process's memory is resident, if that is wanted; at the end no more than
 * once. The guard is held at GUARD_RECORDING, and recording is on
 * (preload/resident/hooks_resident.c). */
extern void (*const lifecycle_look_resident)(bool at_end);

/* The same for how old the live blocks are (preload/lifetimes/hooks_lifetimes.c). */
extern void (*const lifecycle_look_ages)(bool at_end);

/* Called once recording is set up, if the C library is to be looked at from within: by the list of
 * its calls in that file (preload/mapping/within_x86_64.c). */
extern void (*const lifecycle_mapping_begin)(const char *sites);

/* In a forked child, for what is mapped (preload/mapping/hooks_map.c). */
extern void (*const lifecycle_mapping_forked)(void);

/* Called once, while recording is being set up: redirects the calls of all modules that the program
 * has started with, by which allocators' own functions are reached; and, if `inside`, patches those
 * of an allocator in the program's own file, and says whether that has come about
 * (preload/entries/hooks_entries.c). */
extern bool (*const lifecycle_entries)(bool inside);

static inline bool lifecycle_on(void)
{
    return likely(*lifecycle_armed) || lifecycle_begin();
}

#endif
