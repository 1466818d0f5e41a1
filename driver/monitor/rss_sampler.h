/*
 * rss_sampler.h: samples the memory of recorded processes while they run.
 *
 * Traces have the memory from malloc; memory that a process has besides, by an allocator of its own
 * or by mappings, is known to the kernel only, and only as long as the process lives. So a thread
 * samples it at intervals, from outside: this needs no help from the program, and works for killed
 * and sandboxed processes as well.
 */
#ifndef FLAME_DRIVER_MONITOR_RSS_SAMPLER_H
#define FLAME_DRIVER_MONITOR_RSS_SAMPLER_H

#include <stdbool.h>

#include "common/compiler.h"

struct rss_sample {
    uint32_t pid;
    char comm[17];
    uint64_t anon_bytes; /* greatest amount of anonymous memory, resident or swapped out; in results
                            of rss_sampler_seen without the recorder's own */
    uint64_t malloc_bytes; /* most live bytes of malloc's that were recorded by then */
};

struct rss_sampler;

/* Begins to sample the processes that record into `dir`, soon at first, then twice a second. NULL
 * when no thread can be created; the functions below accept that. */
struct rss_sampler *rss_sampler_start(const char *dir);

/* Ends sampling. Call it before the traces are ingested. */
void rss_sampler_stop(struct rss_sampler *w);

/* The sampled processes, each once: *n of them, which w owns. */
const struct rss_sample *rss_sampler_seen(const struct rss_sampler *w, size_t *n);

void rss_sampler_free(struct rss_sampler *w);

/* Reads the numbers of process `pid` once. False: there is no such process, or it may not be
 * inspected. */
bool rss_sampler_look(uint32_t pid, struct rss_sample *seen);

#endif
