/*
 * Any bytes as a ring of the kernel's, and any end and beginning: the reader finds damage or
 * records whose parts are inside of the record, and comes to the end.
 */
#include <stdlib.h>
#include <string.h>

#include "tests/fuzz/ring_bytes.h"
#include "tracer/faults/faultmaps.h"
#include "tracer/faults/faultrecord.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static volatile uint64_t read_all; /* so that a sanitizer sees each address being read */

static void check(const struct fault_record *r, struct faultmaps *maps)
{
    for (size_t i = 0; i < r->stack_size; i++)
        read_all += r->stack[i];
    if (r->name)
        read_all += strlen(r->name);
    if ((r->kind == FAULT_NAME || r->kind == FAULT_EXEC || r->kind == FAULT_MAPPING) != !!r->name)
        abort();
    if (r->kind == FAULT_MAPPING) {
        struct procmap m = {.start = r->start,
                            .end = r->start + r->size,
                            .name = r->name,
                            .name_len = strlen(r->name)};

        faultmaps_add(maps, &m);
        for (size_t i = 1; i < maps->n; i++)
            if (maps->maps[i].start < maps->maps[i - 1].end)
                abort();
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct faultmaps maps = {.n = 0};
    struct perf_ring ring;
    struct fault_record r;

    if (!ring_bytes_take(&ring, data, size))
        return 0;
    while (fault_ring_next(&ring, &r) != FAULT_NONE && r.kind != FAULT_DAMAGED) {
        check(&r, &maps);
        if (ring.tail > ring.head)
            abort();
    }
    if (ring.tail != ring.head)
        abort();
    ring_bytes_release(&ring);
    faultmaps_release(&maps);
    return 0;
}
