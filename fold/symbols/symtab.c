/*
 * The symbol of a module to which an address belongs.
 *
 * Sorted array and binary search. Symbols may nest (a hand-written entry point inside a
 * function) and have aliases (malloc, __libc_malloc): of those with one address the best is kept
 * at sorting time, so that a lookup decides nothing. A lookup takes the last symbol that begins
 * at or before the address; if that one ends too early, an earlier and longer one may contain
 * it, and `reach`, the greatest end so far, shows when going further back is useless.
 *
 * A symbol without size ends where the next one begins; one with a size ends there and nowhere
 * else. Taking "the symbol before" instead would blame, in a stripped library, whatever exported
 * function comes before the unnamed one.
 */
#include "fold/symbols/symtab.h"

#include <stdlib.h>

#include "common/alloc.h"

void symtab_add(struct symtab *t, uint64_t addr, uint64_t size, uint64_t limit,
                enum symtab_rank rank, const char *name, size_t len)
{
    uint64_t end = limit;

    if (len == 0 || len > UINT32_MAX)
        return;
    if (size && __builtin_add_overflow(addr, size, &end))
        end = UINT64_MAX;
    if (end <= addr)
        return;
    GROW(t->e, t->n, t->alloc);
    t->e[t->n++] = (struct symtab_entry){.addr = addr,
                                         .end = end,
                                         .name = name,
                                         .len = (uint32_t)len,
                                         .rank = (uint16_t)rank,
                                         .sized = size != 0};
}

static uint32_t underscores(const struct symtab_entry *e)
{
    uint32_t i = 0;

    while (i < e->len && e->name[i] == '_')
        i++;
    return i;
}

/* Negative: a is the better name. The order is total, so the choice is stable. */
static int by_merit(const struct symtab_entry *a, const struct symtab_entry *b)
{
    uint32_t len = a->len < b->len ? a->len : b->len;
    int d;

    if ((a->rank != SYMTAB_RANK_LABEL) != (b->rank != SYMTAB_RANK_LABEL))
        return a->rank != SYMTAB_RANK_LABEL ? -1 : 1;
    if (a->sized != b->sized)
        return a->sized ? -1 : 1;
    if (a->rank != b->rank)
        return a->rank > b->rank ? -1 : 1;
    /* Programmers' names before the library's own. */
    if (underscores(a) != underscores(b))
        return underscores(a) < underscores(b) ? -1 : 1;
    if (a->len != b->len)
        return a->len < b->len ? -1 : 1;
    d = memcmp(a->name, b->name, len);
    return d;
}

static int by_address(const void *pa, const void *pb)
{
    const struct symtab_entry *a = pa, *b = pb;

    if (a->addr != b->addr)
        return a->addr < b->addr ? -1 : 1;
    return by_merit(a, b);
}

void symtab_finish(struct symtab *t)
{
    uint64_t reach = 0;
    size_t out = 0;

    if (t->n == 0)
        return;
    qsort(t->e, t->n, sizeof *t->e, by_address);
    for (size_t i = 0; i < t->n; i++)
        if (out == 0 || t->e[out - 1].addr != t->e[i].addr)
            t->e[out++] = t->e[i];
    t->n = out;
    for (size_t i = 0; i < t->n; i++) {
        struct symtab_entry *e = &t->e[i];

        if (!e->sized && i + 1 < t->n && t->e[i + 1].addr < e->end)
            e->end = t->e[i + 1].addr;
        if (e->end > reach)
            reach = e->end;
        e->reach = reach;
    }
}

void symtab_release(struct symtab *t)
{
    free(t->e);
    *t = (struct symtab)SYMTAB_INIT;
}

const struct symtab_entry *symtab_find(const struct symtab *t, uint64_t addr)
{
    size_t lo = 0, hi = t->n;

    while (lo < hi) {
        size_t mid = lo + (hi - lo) / 2;

        if (t->e[mid].addr <= addr)
            lo = mid + 1;
        else
            hi = mid;
    }
    for (; lo > 0 && t->e[lo - 1].reach > addr; lo--)
        if (addr < t->e[lo - 1].end)
            return &t->e[lo - 1];
    return NULL;
}
