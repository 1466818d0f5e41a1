/*
 * Facts of the process that reading Python's frames needs, from the recorder that is loaded.
 */
#define _GNU_SOURCE
#include "unwind/python/pyhost.h"

#include "common/spinlock.h"
#include "preload/record.h"
#include "preload/store/store.h"
#include "preload/store/truncate.h"
#include "unwind/modules.h"

static uint32_t gone;
static struct spinlock adding;

void record_python_memory_goes(void)
{
    __atomic_fetch_add(&gone, 1, __ATOMIC_RELEASE);
}

uint32_t pyhost_changes(void)
{
    return __atomic_load_n(&gone, __ATOMIC_ACQUIRE) + modules_changes();
}

const char *pyhost_store(const char *text, uint32_t len, uint64_t *pc)
{
    uint64_t offset;
    const char *there =
        trace_writer_meta(&store.writer, TRACE_META_STRING, text, len, NULL, 0, &offset);

    *pc = STACK_NAME | offset;
    return there;
}

bool pyhost_begin_names(void)
{
    spinlock_take(&adding);
    return true;
}

void pyhost_end_names(void)
{
    spinlock_drop(&adding);
}

void pyhost_after_fork(void)
{
    adding.held = 0;
}
