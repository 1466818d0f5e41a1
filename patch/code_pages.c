/*
 * Code stays executable while it is written: what refuses modified code to be made executable
 * (SELinux's execmod) refuses now, while there is nothing to take back.
 */
#define _GNU_SOURCE
#include "patch/code_pages.h"

#include <sys/mman.h>
#include <sys/syscall.h>

#include "common/kernel.h"
#include "common/procmaps.h"

/* Where a program's heap grows, right above it, is no place for stubs. */
#define HEAP_ROOM ((uintptr_t)1 << 30)

static bool note_text(const struct procmap *map, void *arg)
{
    struct texts *texts = arg;

    if (map->end <= texts->lo || map->start >= texts->hi || !map->exec || texts->n == TEXTS_MAX)
        return false;
    texts->t[texts->n++] = (struct text){.start = map->start,
                                         .end = map->end,
                                         .protection = PROT_EXEC | (map->read ? PROT_READ : 0) |
                                                       (map->write ? PROT_WRITE : 0)};
    return false;
}

void texts_find(struct texts *texts)
{
    texts->n = 0;
    procmaps_each(0, note_text, texts);
}

bool texts_hold(const struct texts *texts, uintptr_t at, size_t size)
{
    for (unsigned i = 0; i < texts->n; i++)
        if (at >= texts->t[i].start && at + size <= texts->t[i].end &&
            texts->t[i].protection & PROT_READ)
            return true;
    return false;
}

bool texts_reach(const struct texts *texts, uintptr_t at, size_t size)
{
    uintptr_t lo = at < texts->lo ? at : texts->lo;
    uintptr_t hi = at + size > texts->hi ? at + size : texts->hi;

    return hi - lo < TEXTS_REACH;
}

int texts_protect(uintptr_t start, uintptr_t end, int protection)
{
    return (int)kernel_call(SYS_mprotect, start, end - start, protection);
}

/* Memory at `hint`, if that is free and reached; else 0. */
static uintptr_t map_at(uintptr_t hint, const struct texts *texts, size_t size)
{
    long got = kernel_call(SYS_mmap, hint & ~(TEXTS_PAGE - 1), size, PROT_READ | PROT_WRITE,
                           MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    if (kernel_failed(got))
        return 0;
    if (texts_reach(texts, (uintptr_t)got, size))
        return (uintptr_t)got;
    kernel_call(SYS_munmap, got, size);
    return 0;
}

uintptr_t texts_map_near(const struct texts *texts, size_t size)
{
    uintptr_t got = 0;

    for (uintptr_t away = TEXTS_PAGE; !got && away < TEXTS_REACH; away += away / 2)
        if (texts->lo > size + away + 16 * TEXTS_PAGE)
            got = map_at(texts->lo - size - away, texts, size);
    for (uintptr_t away = HEAP_ROOM; !got && away < TEXTS_REACH; away += HEAP_ROOM / 4)
        if (texts->hi < UINTPTR_MAX / 2 - away)
            got = map_at(texts->hi + away, texts, size);
    return got;
}

static void lock(const struct texts *texts, unsigned n)
{
    for (unsigned i = 0; i < n; i++)
        texts_protect(texts->t[i].start, texts->t[i].end, texts->t[i].protection);
}

void texts_lock(const struct texts *texts)
{
    lock(texts, texts->n);
}

int texts_unlock(const struct texts *texts)
{
    for (unsigned i = 0; i < texts->n; i++) {
        int err =
            texts_protect(texts->t[i].start, texts->t[i].end, texts->t[i].protection | PROT_WRITE);

        if (err) {
            lock(texts, i);
            return err;
        }
    }
    return 0;
}
