/*
 * The scan of resident memory: when it runs, and what it writes to the trace.
 *
 * Other threads are stopped while pages are read. The rows are written after the threads are
 * resumed, because writing takes a lock. If the threads cannot be stopped (in a sandbox), the scan
 * runs nevertheless. Each page is still attributed once, but memory that changes meanwhile may be
 * reported as of before or after the change.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <time.h>

#include "common/basename.h"
#include "common/pages.h"
#include "preload/leak/stop_the_world.h"
#include "preload/leak/heap_scan.h"
#include "preload/lifecycle.h"
#include "preload/mapping/map_ranges.h"
#include "preload/resident/attribution.h"
#include "preload/resident/recorder_memory.h"
#include "preload/resident/nonheap_parts.h"
#include "preload/resident/residentrows.h"
#include "preload/runtime/elapsed.h"
#include "preload/runtime/config.h"
#include "preload/sidetables/pausedblocks.h"
#include "preload/sidetables/pools.h"

static bool wanted;
static bool done; /* the scan at the process's end has been made */

/* In pages, so that processes without this scan do not have the memory. */
static struct looks {
    struct attribution a;
    struct stopped_world freeze;
} * g;

static bool attribute(struct trace_resident *r)
{
    bool ok, stand;

    map_ranges_hold();
    pausedblocks_lock();
    pools_lock();
    recorder_memory_hold();
    nonheap_parts_hold();
    stand = stop_world_begin(&g->freeze);
    g->a.freeze = stand ? &g->freeze : NULL;
    r->stood = stand && !g->freeze.missed;
    ok = attribution_make(&g->a);
    if (stand)
        stop_world_end(&g->freeze);
    nonheap_parts_let_go();
    recorder_memory_let_go();
    pools_unlock();
    pausedblocks_unlock();
    map_ranges_let_go();
    return ok;
}

static void fill(struct trace_resident *r)
{
    r->kernel_bytes = g->a.kernel_bytes;
    r->bytes = g->a.bytes;
    r->swapped_bytes = g->a.swapped;
    r->blocks = g->a.blocks;
    r->asked_bytes = g->a.asked;
    r->usable_bytes = g->a.landmarks.glibc ? g->a.usable : 0;
    r->slack_bytes = g->a.slack;
}

static void look(struct thread_state *t)
{
    struct trace_resident r = {.monotonic_ns = clock_ns(CLOCK_MONOTONIC)};

    if (!attribution_begin(&g->a))
        r.error = ENOMEM;
    else if (!attribute(&r))
        r.error = (uint32_t)g->a.error;
    else if (residentrows_write(t, &g->a))
        fill(&r);
    else
        r.error = ENOSPC;
    attribution_end(&g->a);
    r.took_ns = elapsed_ns(r.monotonic_ns, clock_ns(CLOCK_MONOTONIC));
    trace_writer_meta(&store.writer, TRACE_META_RESIDENT, &r, sizeof r, NULL, 0, NULL);
}

static void look_resident(bool at_end)
{
    struct thread_state *t = wanted ? heap_scan_begin(at_end ? &done : NULL) : NULL;

    if (!t)
        return;
    look(t);
    heap_scan_leave();
}

static void started(const struct config *config)
{
    if (config->sample || !recorder_memory_begin() || !(g = pages_alloc(sizeof *g)))
        return;
    g->a.run = config->notes;
    g->a.run_len = (size_t)(base_name(config->notes) - config->notes);
    wanted = true;
    lifecycle_end_wanted = true;
    pausedblocks_remember();
}

static void after_fork(void)
{
    if (!wanted)
        return;
    done = false;
    recorder_memory_after_fork();
    nonheap_parts_after_fork();
    residentrows_forget();
    /* Results of a scan that another thread was making. */
    if (g->a.rows)
        attribution_end(&g->a);
}

const struct lifecycle_listener lifecycle_resident = {.started = started, .forked = after_fork};
void (*const lifecycle_look_resident)(bool at_end) = look_resident;
