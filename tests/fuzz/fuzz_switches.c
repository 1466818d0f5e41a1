/*
 * Any bytes as a ring of the kernel's, and any end and beginning: the reader finds damage or
 * records, and comes to the end; and whatever they contain about a thread's switches, a time
 * away has its end behind its beginning.
 */
#include <stdlib.h>
#include <string.h>

#include "tests/fuzz/ring_bytes.h"
#include "tracer/nostop/switch_intervals.h"
#include "tracer/nostop/switchrecord.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(const struct switch_record *r, struct switch_interval *nap)
{
    struct switch_interval_over over;
    bool is = false;

    if (r->kind == SWITCH_OUT)
        is = switch_interval_leaves(nap, r->time, r->wants, &over);
    else if (r->kind == SWITCH_IN)
        is = switch_interval_comes(nap, r->time, &over);
    if (is && over.to < over.from)
        abort();
    if (r->wants && r->kind != SWITCH_OUT)
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct perf_ring ring;
    struct switch_interval nap = {.away = false};
    struct switch_record r;

    if (!ring_bytes_take(&ring, data, size))
        return 0;
    while (switch_ring_next(&ring, &r) != SWITCH_NONE && r.kind != SWITCH_DAMAGED) {
        check(&r, &nap);
        if (ring.tail > ring.head)
            abort();
    }
    if (ring.tail != ring.head)
        abort();
    ring_bytes_release(&ring);
    return 0;
}
