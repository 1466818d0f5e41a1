#include "preload/peak.h"

bool peak_dirty;

void peak_look(struct trace_header *h, struct thread_state *t)
{
    int64_t total = threads_live_bytes();
    uint64_t mark = peak_load(&h->peak_bytes);

    t->peak_since = (int64_t)t->record->live_bytes;
    while (total > (int64_t)mark) {
        if (__atomic_compare_exchange_n(&h->peak_bytes, &mark, (uint64_t)total, false,
                                        __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {
            peak_begin_epoch(h);
            break;
        }
    }
}
