/*
 * perfopen.h: opens events of the kernel (perf_event_open(2)), and explains why the kernel refuses.
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

/* Opens an event for this thread on this processor, closed at exec: its descriptor, or -errno;
 * -ENODEV where there is no such processor. */
int perf_open(const struct perf_event_attr *attr, pid_t tid, int cpu);

/* The refusal `err` and how to avoid it, for the end of a line. `needs` is the number of
 * descriptors and their purpose, for a lack of them: "two are needed for each processor". */
void perf_refusal(int err, const char *needs, struct strbuf *why);

/* Head and tail in the kernel's page before a ring. perf_head: the kernel has written up to here.
 * perf_give_room: the kernel may overwrite the bytes before `tail`. */
static inline uint64_t perf_head(const struct perf_event_mmap_page *page)
{
    return __atomic_load_n(&page->data_head, __ATOMIC_ACQUIRE);
}

static inline void perf_give_room(struct perf_event_mmap_page *page, uint64_t tail)
{
    __atomic_store_n(&page->data_tail, tail, __ATOMIC_RELEASE);
}

#endif
