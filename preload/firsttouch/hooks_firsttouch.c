/*
 * Reads the page faults and counts them for the owner of the touched memory. That happens before a
 * block or a mapping is freed, so that its faults count as its own, and when there may soon be no
 * room for more.
 *
 * One thread reads at a time. Another thread that is about to free a block waits for it, because it
 * may have a fault in that block. If the reader never returns (siglongjmp out of a handler), other
 * threads continue without reading, and the kernel counts the losses.
 */
#include "common/basename.h"
#include "common/spinlock.h"
#include "preload/lifecycle.h"
#include "preload/record.h"
#include "preload/resident/recorder_memory.h"
#include "preload/resident/nonheap_parts.h"
#include "preload/runtime/config.h"
#include "preload/runtime/log.h"
#include "preload/firsttouch/faultrings.h"
#include "preload/firsttouch/fault_owner.h"
#include "preload/firsttouch/address_map.h"

static struct {
    struct desertable_lock lock;
    struct faultrings rings;
    uint32_t cpus;
} g;

static void read_all(struct thread_state *t)
{
    struct owning o = {.t = t, .rings = &g.rings};

    if (!desertable_take(&g.lock))
        return;
    faultrings_read(&g.rings, fault_owner_count, &o);
    desertable_drop(&g.lock);
}

FLAME_COLD void first_touch_drain(enum first_touch_drain when)
{
    struct thread_state *t;

    if (!(when == DRAIN_IF_NEARLY_FULL ? faultrings_many(&g.rings) : faultrings_any(&g.rings)))
        return;
    t = threads_self();
    if (!t)
        return;
    read_all(t);
    if (when != DRAIN_AT_END)
        return;
    faultrings_press(&g.rings);
    read_all(t);
}

static void open_rings(void)
{
    long err = faultrings_open(&g.rings, g.cpus);

    if (!err) {
        __atomic_fetch_or(&features_on, FEATURE_FAULTS, __ATOMIC_RELEASE);
        return;
    }
    __atomic_fetch_and(&features_on, ~(uint32_t)FEATURE_FAULTS, __ATOMIC_RELEASE);
    log_line("page faults of this process are not recorded: ", log_errno((int)-err),
             ": perf_event_open, or the memory it may lock (RLIMIT_MEMLOCK, "
             "kernel.perf_event_mlock_kb); the program runs on",
             NULL);
}

static void started(const struct config *config)
{
    size_t len = (size_t)(base_name(config->notes) - config->notes);

    if (config->sample || !recorder_memory_begin() || !address_map_begin(config->notes, len))
        return;
    g.cpus = config->touched;
    open_rings();
    lifecycle_end_wanted |= feature_on(FEATURE_FAULTS);
}

static void after_fork(void)
{
    if (!g.cpus)
        return;
    g.lock = (struct desertable_lock){.deserted = 0};
    if (!g.rings.n)
        return;
    faultrings_forget(&g.rings);
    recorder_memory_after_fork();
    nonheap_parts_after_fork();
    address_map_forget();
    fault_owner_forget();
    open_rings();
}

const struct lifecycle_listener lifecycle_touched = {.started = started, .forked = after_fork};
