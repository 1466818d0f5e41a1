#include "preload/lifetimes/lifetimes.h"

#include "common/pages.h"
#include "preload/record.h"
#include "preload/sidetables/birthmap.h"

/* In pages, so that processes that do not record lifetimes do not have the memory. */
static struct rowclasses *counted;

bool lifetimes_begin(bool bytes)
{
    if (!births_begin() || !(counted = pages_alloc(sizeof *counted)))
        return false;
    age_clock_begin(bytes);
    __atomic_fetch_or(&features_on, FEATURE_LIFETIMES, __ATOMIC_RELEASE);
    return true;
}

void lifetimes_forget(void)
{
    rowclasses_forget(counted);
}

enum histogram lifetimes_histogram(bool ages)
{
    if (lifeclock.bytes)
        return ages ? HISTOGRAM_AGES_BYTES : HISTOGRAM_LIFETIMES_BYTES;
    return ages ? HISTOGRAM_AGES : HISTOGRAM_LIFETIMES;
}

static inline void count_size(struct thread_state *t, uint32_t row, uint64_t size, struct weight w)
{
    struct row_classes *c = rowclasses_of(counted, row);
    uint32_t class = lifeclass_size(size);

    if (likely(c != NULL))
        lifetimes_count(rowclasses_row(t, &c->sizes[class], store_row(row)->node, t->id,
                                       lifeclass_number(HISTOGRAM_SIZES, class), TRACE_ROW_CLASS),
                        w);
}

void record_birth(struct thread_state *t, uint32_t row, uintptr_t p, uint64_t size, struct weight w)
{
    if (lifeclock.bytes)
        age_clock_advance(&t->allocated, w.bytes);
    births_put(p, age_clock_now(t->allocated));
    count_size(t, row, size, w);
}

void record_pool_birth(struct thread_state *t, uint32_t row, uint64_t size)
{
    count_size(t, row, size, (struct weight){size, 1});
}

void record_death(struct thread_state *t, uint32_t row, uint32_t own, uint64_t birth,
                  struct weight w)
{
    struct row_classes *c;
    uint32_t class;

    /* Blocks from before the fork are left to the parent. */
    if (!feature_on(FEATURE_LIFETIMES) || row < store.inherited_rows)
        return;
    class = lifetimes_class(birth, age_clock_now(t->allocated));
    c = rowclasses_of(counted, own);
    if (likely(c != NULL))
        lifetimes_count(rowclasses_row(t, &c->lives[class], store_row(own)->node, t->id,
                                       lifeclass_number(lifetimes_histogram(false), class),
                                       TRACE_ROW_CLASS),
                        w);
}
