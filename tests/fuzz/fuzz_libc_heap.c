/* Any bytes as heaps of glibc's malloc in a process that was attached to. */
#include "inject/memory/libc_heap.h"

#include <stdlib.h>

#define BASE ((uintptr_t)LIBC_HEAP_SIZE * 16)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct walk {
    uintptr_t last, end;
};

static void check(void *arg, const struct libc_block *b)
{
    struct walk *w = arg;

    if (b->addr <= w->last || b->size > w->end - b->addr)
        abort();
    w->last = b->addr;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const struct procmem m = {.fd = -1, .bytes = data, .base = BASE, .size = size};
    struct walk w = {BASE, BASE + size};
    uintptr_t end = 0, first = libc_heap_first(&m, BASE, &end), after = 0;
    uintptr_t head[2];
    struct libc_block b;

    if (libc_heap_walk(&m, BASE, BASE + size, check, &w) < BASE)
        abort();
    if (first) {
        w = (struct walk){BASE, end};
        if (first >= end || libc_heap_walk(&m, first, end, check, &w) != end)
            abort();
    }
    if (size < sizeof head)
        return 0;
    memcpy(head, data, sizeof head);
    if (libc_heap_is_mapped(head, BASE, BASE + ((uintptr_t)1 << 40), &b, &after) &&
        (after <= b.addr || b.addr + b.size > after))
        abort();
    return 0;
}
