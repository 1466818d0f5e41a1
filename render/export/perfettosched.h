/*
 * perfettosched.h: threads' waits as events of a scheduler, in the compact form of a Perfetto
 * trace, so that its viewer has thread states, wakers and the critical path.
 *
 * The recording has no processors, so they are invented: a thread that is awake takes the free one
 * with the lowest number. Sums of short waits are no events: there a thread looks as if it ran.
 */
#ifndef FLAME_RENDER_EXPORT_PERFETTOSCHED_H
#define FLAME_RENDER_EXPORT_PERFETTOSCHED_H

#include "render/export/perfettoout.h"
#include "render/export/waitlist.h"

/* Adds `from_ns` to all times. Threads that share a record with others have no events. */
void perfettosched_write(struct perfettoout *p, const struct waitlist *w, uint64_t from_ns);

#endif
