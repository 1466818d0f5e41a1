/*
 * perfopen.h: asking the kernel for events (perf_event_open(2)), and why it refuses.
 *
 * Thread-safe.
 */
#ifndef FLAME_TRACER_PERF_PERFOPEN_H
#define FLAME_TRACER_PERF_PERFOPEN_H

#include <linux/perf_event.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "common/strbuf.h"

/* A descriptor of events of this thread on this processor, closed at exec; or -errno: -ENODEV where
 * there is no such processor. */
int perf_open(const struct perf_event_attr *attr, pid_t tid, int cpu);

/* What the kernel refuses and what can be done about it, for the end of a line. `needs`: how many
 * descriptors are wanted for what, where there are too few, as "two are needed for each
 * processor". */
void perf_refusal(int err, const char *needs, struct strbuf *why);

/* Of the kernel's page before a ring: how far the kernel has written, and letting it write again up
 * to where was read. */
static inline uint64_t perf_head(const struct perf_event_mmap_page *page)
{
    return __atomic_load_n(&page->data_head, __ATOMIC_ACQUIRE);
}

static inline void perf_give_room(struct perf_event_mmap_page *page, uint64_t tail)
{
    __atomic_store_n(&page->data_tail, tail, __ATOMIC_RELEASE);
}

#endif
