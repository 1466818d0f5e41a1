/*
 * Code stays executable while it is written. A policy that forbids making modified code executable
 * (SELinux's execmod) then refuses at once, before any change has to be undone.
 */
#define _GNU_SOURCE
#include "patch/code_pages.h"

#include <sys/mman.h>
#include <sys/syscall.h>

#include "common/kernel.h"
#include "common/procmaps.h"

/* No stubs are placed directly above the program, where its heap grows. */
#define HEAP_ROOM ((uintptr_t)1 << 30)

static bool note_text(const struct procmap *map, void *arg)
{
    struct code_pages *texts = arg;

    if (map->end <= texts->lo || map->start >= texts->hi || !map->exec ||
        texts->n == CODE_PAGES_MAX)
        return false;
    texts->t[texts->n++] = (struct text){.start = map->start,
                                         .end = map->end,
                                         .protection = PROT_EXEC | (map->read ? PROT_READ : 0) |
                                                       (map->write ? PROT_WRITE : 0)};
    return false;
}

void code_pages_find(struct code_pages *texts)
{
    texts->n = 0;
    procmaps_each(0, note_text, texts);
}

bool code_pages_hold(const struct code_pages *texts, uintptr_t at, size_t size)
{
    for (unsigned i = 0; i < texts->n; i++)
        if (at >= texts->t[i].start && at + size <= texts->t[i].end &&
            texts->t[i].protection & PROT_READ)
            return true;
    return false;
}

bool code_pages_reach(const struct code_pages *texts, uintptr_t at, size_t size)
{
    uintptr_t lo = at < texts->lo ? at : texts->lo;
    uintptr_t hi = at + size > texts->hi ? at + size : texts->hi;

    return hi - lo < CODE_PAGES_REACH;
}

int code_pages_protect(uintptr_t start, uintptr_t end, int protection)
{
    return (int)kernel_call(SYS_mprotect, start, end - start, protection);
}

/* Maps memory at `hint`, if that is free and within reach; otherwise 0. */
static uintptr_t map_at(uintptr_t hint, const struct code_pages *texts, size_t size)
{
    long got = kernel_call(SYS_mmap, hint & ~(CODE_PAGES_PAGE - 1), size, PROT_READ | PROT_WRITE,
                           MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    if (kernel_failed(got))
        return 0;
    if (code_pages_reach(texts, (uintptr_t)got, size))
        return (uintptr_t)got;
    kernel_call(SYS_munmap, got, size);
    return 0;
}

uintptr_t code_pages_map_near(const struct code_pages *texts, size_t size)
{
    uintptr_t got = 0;

    for (uintptr_t away = CODE_PAGES_PAGE; !got && away < CODE_PAGES_REACH; away += away / 2)
        if (texts->lo > size + away + 16 * CODE_PAGES_PAGE)
            got = map_at(texts->lo - size - away, texts, size);
    for (uintptr_t away = HEAP_ROOM; !got && away < CODE_PAGES_REACH; away += HEAP_ROOM / 4)
        if (texts->hi < UINTPTR_MAX / 2 - away)
            got = map_at(texts->hi + away, texts, size);
    return got;
}

static void lock(const struct code_pages *texts, unsigned n)
{
    for (unsigned i = 0; i < n; i++)
        code_pages_protect(texts->t[i].start, texts->t[i].end, texts->t[i].protection);
}

void code_pages_lock(const struct code_pages *texts)
{
    lock(texts, texts->n);
}

int code_pages_unlock(const struct code_pages *texts)
{
    for (unsigned i = 0; i < texts->n; i++) {
        int err = code_pages_protect(texts->t[i].start, texts->t[i].end,
                                     texts->t[i].protection | PROT_WRITE);

        if (err) {
            lock(texts, i);
            return err;
        }
    }
    return 0;
}
