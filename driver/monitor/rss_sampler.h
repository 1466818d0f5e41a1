/*
 * rss_sampler.h: how much memory the recorded processes have while they run.
 *
 * What malloc gave is in the traces; what a process has besides, by an allocator of its
 * own or by mappings, is known to the kernel, and only as long as the process lives. So a
 * thread looks now and then, from outside: nothing is asked of the program, and a process
 * that is killed or sandboxed is seen like any other.
 */
#ifndef FLAME_DRIVER_MONITOR_RSS_SAMPLER_H
#define FLAME_DRIVER_MONITOR_RSS_SAMPLER_H

#include <stdbool.h>

#include "common/compiler.h"

struct watched {
    uint32_t pid;
    char comm[17];
    uint64_t anon_bytes;   /* anonymous memory, resident or swapped out, at its most; of what
                              watch_seen gives without what the recorder says it has itself */
    uint64_t malloc_bytes; /* most live bytes of malloc's that were recorded by then */
};

struct watch;

/* Begins to look at the processes that record into `dir`, soon at first, then twice a
 * second. NULL when no thread can be had; the functions below take that. */
struct watch *watch_start(const char *dir);

/* Ends looking. To be called before the traces are taken. */
void watch_stop(struct watch *w);

/* The processes that were seen, each once: *n of them, which w owns. */
const struct watched *watch_seen(const struct watch *w, size_t *n);

void watch_free(struct watch *w);

/* Reads the numbers of process `pid` once. False: there is no such process, or it may not be
 * inspected. */
bool watch_look(uint32_t pid, struct watched *seen);

#endif
