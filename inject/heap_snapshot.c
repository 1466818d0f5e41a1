#include "inject/heap_snapshot.h"

#include <stdlib.h>

#include "common/alloc.h"
#include "inject/threadregs.h"
#include "tracer/objects/proctask.h"

static void take_frames(struct heap_thread *to, struct agent_trace *t,
                        const struct allstop_thread *from)
{
    const uintptr_t *sps, *pcs;
    int n;

    pcs = agent_trace_walk(t, from->tid, &from->regs, &sps, &n);
    if (!sps || n <= 0)
        return;
    to->frames = xreallocarray(NULL, (size_t)n, sizeof *to->frames);
    for (int i = 0; i < n; i++)
        to->frames[to->nframes++] = (struct heap_frame){sps[i], pcs[i]};
}

void heap_snapshot_threads(struct heap_snapshot *h, struct agent_trace *t,
                           const struct allstop *stop, const struct maps_snapshot *maps)
{
    size_t n;
    const struct allstop_thread *all = allstop_threads(stop, &n);

    h->threads = xcalloc(n + 1, sizeof *h->threads);
    for (size_t i = 0; i < n; i++) {
        struct heap_thread *to = &h->threads[h->nthreads++];
        uintptr_t sp = threadregs_sp(&all[i].regs);
        const struct maps_snapshot_map *stack = maps_snapshot_find(maps, sp);

        *to = (struct heap_thread){.tid = all[i].tid,
                                   .sp = sp,
                                   .lo = stack ? stack->start : sp,
                                   .hi = stack ? stack->end : sp,
                                   .control_block = all[i].control_block};
        task_comm(all[i].tid, to->comm);
        take_frames(to, t, &all[i]);
    }
}

void heap_snapshot_release(struct heap_snapshot *h)
{
    heap_scan_release(&h->scan);
    agent_blocks_release(&h->blocks);
    old_blocks_release(&h->old);
    free(h->idle);
    for (size_t i = 0; i < h->nthreads; i++)
        free(h->threads[i].frames);
    free(h->threads);
    *h = (struct heap_snapshot){.nthreads = 0};
}
