/*
 * lifecycle.h: the beginning of recording, its restart in forked children, and its end.
 *
 * Recording begins with the first event, which may come from another library's constructor.
 * `recording_armed` is one load on the hot path. It lies in a page that the kernel wipes in a
 * forked child (MADV_WIPEONFORK). So the child notices at its first event, however it was forked,
 * and starts a trace of its own. A child of vfork shares its parent's memory and records into its
 * parent's trace.
 */
#ifndef FLAME_PRELOAD_LIFECYCLE_H
#define FLAME_PRELOAD_LIFECYCLE_H

#include <stdbool.h>

#include "common/compiler.h"

extern volatile uint32_t *recording_armed;

/* Slow path of recording_on; the guard is held at GUARD_RECORDING. */
bool lifecycle_begin(void);

/* Ends recording in this process for good. Memory that other threads use in the middle of an
 * event stays. May be called in a signal handler. */
void lifecycle_end(void);

/* A part of the recorder that is called at these moments. */
struct config;
struct lifecycle_listener {
    /* The options are known; nothing has been mapped yet but the run's status file. */
    void (*started)(const struct config *config);
    void (*forked)(void); /* in a forked child */
};

/* The parts: the leak check (preload/leak/hooks_exit.c), the check of frees (preload/misuse/), the
 * program's own calls (preload/api/api_recording.c), the scan of resident memory, lifetimes, page
 * faults, names of Python's functions, and who keeps memory. */
extern const struct lifecycle_listener lifecycle_leak, lifecycle_misuse, lifecycle_asked,
    lifecycle_resident, lifecycle_lifetimes, lifecycle_touched, lifecycle_python, lifecycle_kept;

/* Whether any part has work to do when the process ends. */
extern bool lifecycle_end_wanted;

/* Measures which of the process's memory is resident, if that was requested; at the end at most
 * once. The guard is held at GUARD_RECORDING, and recording is on
 * (preload/resident/hooks_resident.c). */
extern void (*const lifecycle_look_resident)(bool at_end);

/* Records the ages of the live blocks, if that was requested; at the end at most once. The guard
 * and recording are as for lifecycle_look_resident (preload/lifetimes/hooks_lifetimes.c). */
extern void (*const lifecycle_look_ages)(bool at_end);

/* Stores what leads to which block, if that was requested; at the end, at most once. `frame`: as in
 * leakcheck_now. The guard and recording are as for lifecycle_look_resident
 * (preload/kept/hooks_kept.c). */
extern void (*const lifecycle_look_kept)(const void *frame);
/* Likewise for a copy of the trace, `trace`, at the present moment. */
extern void (*const lifecycle_look_kept_now)(const void *frame, const char *trace);

/* Called once recording is set up, if mappings that the C library makes for itself are to be
 * recorded. `sites`: the file with the list of its calls
 * (preload/mapping/libc_mmap_patch_x86_64.c). */
extern void (*const lifecycle_mapping_begin)(const char *sites);

/* Resets the list of mappings in a forked child (preload/mapping/hooks_map.c). */
extern void (*const lifecycle_mapping_forked)(void);

/* Called once, while recording is being set up: redirects the calls of allocators' own
 * functions, in all modules that the program has started with. If `inside`, it patches an
 * allocator in the program's own file, and returns whether that succeeded
 * (preload/allocators/hooks_entries.c). */
extern bool (*const lifecycle_entries)(bool inside);

static inline bool recording_on(void)
{
    return likely(*recording_armed) || lifecycle_begin();
}

#endif
