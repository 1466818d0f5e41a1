/*
 * remote_pages.h: reads the memory of a stopped process in order, without the pages that are not
 * there, so that none appears by it.
 *
 * The memory may hold anything. Not thread-safe.
 */
#ifndef FLAME_INJECT_MEMORY_REMOTE_PAGES_H
#define FLAME_INJECT_MEMORY_REMOTE_PAGES_H

#include "inject/memory/procmem.h"

#define REMOTE_PAGES_BUFFER ((size_t)1 << 20)

struct remote_pages {
    const struct procmem *mem;
    int pagemap;       /* -1: it cannot be read, and every page may be there */
    bool no_scan;      /* the kernel cannot search for the next page that is there */
    uint64_t *entries; /* of the pagemap */
    uint8_t *buffer;   /* REMOTE_PAGES_BUFFER bytes */
};

/* Borrows `m` until remote_pages_end. */
void remote_pages_begin(struct remote_pages *p, const struct procmem *m);
void remote_pages_end(struct remote_pages *p);

/* Finds out which of `n` pages from `page` on are there; remote_pages_is_there has the answer for
 * as many as it returns. */
size_t remote_pages_look(struct remote_pages *p, uintptr_t page, size_t n);
bool remote_pages_is_there(const struct remote_pages *p, size_t i);

/* Calls `visit` for each run of pages of [lo, hi) that are there, in order of address; the first
 * and the last one begin and end with the range. */
void remote_pages_runs(struct remote_pages *p, uintptr_t lo, uintptr_t hi,
                       void (*visit)(void *arg, uintptr_t lo, uintptr_t hi), void *arg);

/* Calls `visit` with the words in [lo, hi) that are there, in order of address; `at` is the address
 * of the first one. Pages for which `skip` returns true are left out (NULL: none is). */
void remote_pages_range(struct remote_pages *p, uintptr_t lo, uintptr_t hi,
                        bool (*skip)(void *arg, uintptr_t page),
                        void (*visit)(void *arg, uintptr_t at, const uintptr_t *words, size_t n),
                        void *arg);

#endif
