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

struct rss_sample {
    uint32_t pid;
    char comm[17];
    uint64_t anon_bytes;   /* anonymous memory, resident or swapped out, at its most; of what
                              rss_sampler_seen gives without what the recorder says it has itself */
    uint64_t malloc_bytes; /* most live bytes of malloc's that were recorded by then */
};

struct rss_sampler;

/* Begins to look at the processes that record into `dir`, soon at first, then twice a
 * second. NULL when no thread can be had; the functions below take that. */
struct rss_sampler *rss_sampler_start(const char *dir);

/* Ends looking. To be called before the traces are taken. */
void rss_sampler_stop(struct rss_sampler *w);

/* The processes that were seen, each once: *n of them, which w owns. */
const struct rss_sample *rss_sampler_seen(const struct rss_sampler *w, size_t *n);

void rss_sampler_free(struct rss_sampler *w);

/* Reads the numbers of process `pid` once. False: there is no such process, or it may not be
 * inspected. */
bool rss_sampler_look(uint32_t pid, struct rss_sample *seen);

#endif
