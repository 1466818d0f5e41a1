/*
 * thread_caches.h: chunks that glibc's malloc keeps free in the caches of threads. Their heads say
 * that they are in use.
 *
 * Source: struct tcache_perthread_struct of glibc 2.30 to 2.41: 64 counts of two
 * bytes, 64 lists. A list's link is the address of the next block; since 2.32 it is exclusive-ored
 * with its own address shifted by 12 bits.
 */
#ifndef FLAME_INJECT_MEMORY_THREAD_CACHES_H
#define FLAME_INJECT_MEMORY_THREAD_CACHES_H

#include "inject/memory/agent_blocks.h"

/* For a stopped process: sets idle[i] for each block that a cache has, and for the caches
 * themselves. `idle` has blocks->n elements. */
void thread_caches_find(bool *idle, const struct agent_blocks *blocks, const struct procmem *m);

#endif
