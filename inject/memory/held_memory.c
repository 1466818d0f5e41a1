#define _GNU_SOURCE
#include "inject/memory/held_memory.h"

#include <stdlib.h>
#include <sys/mman.h>

#include "common/alloc.h"

bool held_memory_begin(struct held_memory *h, size_t size)
{
    void *p = mmap(NULL, size, PROT_READ | PROT_WRITE,
                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE | MAP_NORESERVE, -1, 0);

    *h = (struct held_memory){.n = 0};
    if (p == MAP_FAILED)
        return false;
    h->buffer = p;
    h->size = size;
    return true;
}

void held_memory_release(struct held_memory *h)
{
    if (h->buffer)
        munmap(h->buffer, h->size);
    free(h->runs);
    *h = (struct held_memory){.n = 0};
}

void *held_memory_space(struct held_memory *h, size_t size)
{
    if (h->full || size > h->size - h->used) {
        h->full = true;
        return NULL;
    }
    return h->buffer + h->used;
}

/* Adds a run, or adds to the last one. */
static void add(struct held_memory *h, uintptr_t at, size_t size, size_t in_buffer)
{
    struct held_run *last = h->n ? &h->runs[h->n - 1] : NULL;

    if (!size)
        return;
    if (last && last->hi == at && (last->at == HELD_ZEROS) == (in_buffer == HELD_ZEROS)) {
        last->hi += size;
        return;
    }
    GROW(h->runs, h->n, h->room);
    h->runs[h->n++] = (struct held_run){at, at + size, in_buffer};
}

void held_memory_add(struct held_memory *h, uintptr_t at, size_t size)
{
    add(h, at, size, h->used);
    h->used += size;
}

void held_memory_add_zeros(struct held_memory *h, uintptr_t at, size_t size)
{
    add(h, at, size, HELD_ZEROS);
}

/* Number of the first run that ends behind `at`; n: there is none. */
static size_t run_from(const struct held_memory *h, uintptr_t at)
{
    size_t lo = 0, hi = h->n;

    while (lo < hi) {
        size_t mid = lo + (hi - lo) / 2;

        if (h->runs[mid].hi > at)
            hi = mid;
        else
            lo = mid + 1;
    }
    return lo;
}

bool held_memory_read(const struct held_memory *h, uintptr_t at, void *to, size_t size)
{
    uint8_t *p = to;

    for (size_t i = run_from(h, at); size; i++) {
        const struct held_run *run = i < h->n ? &h->runs[i] : NULL;
        size_t part;

        if (!run || at < run->lo)
            return false;
        part = size < run->hi - at ? size : run->hi - at;
        if (run->at == HELD_ZEROS)
            memset(p, 0, part);
        else
            memcpy(p, h->buffer + run->at + (at - run->lo), part);
        p += part;
        at += part;
        size -= part;
    }
    return true;
}

uintptr_t held_memory_next(const struct held_memory *h, uintptr_t at)
{
    size_t i = run_from(h, at);

    while (i < h->n && h->runs[i].at == HELD_ZEROS)
        i++;
    if (i == h->n)
        return UINTPTR_MAX;
    return at > h->runs[i].lo ? at : h->runs[i].lo;
}
