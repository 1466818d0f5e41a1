/*
 * written_words.h: the words of a large range of memory, without those of pages that were never
 * written to: a program may have terabytes of which it touched a few pages.
 *
 * No malloc.
 */
#ifndef FLAME_PRELOAD_LEAK_WRITTEN_WORDS_H
#define FLAME_PRELOAD_LEAK_WRITTEN_WORDS_H

#include "preload/shadow/shadow_leaves.h"

/* Size of a range from which on it is worth asking the kernel which of its pages were written. */
#define WRITTEN_WORDS_SPARSE ((uintptr_t)1 << 20)

/* Calls `visit` for the words of [lo, hi), in pieces of one page at most. `pages` is open. */
void written_words(struct shadow_pages *pages, uintptr_t lo, uintptr_t hi,
                   void (*visit)(const uintptr_t *p, const uintptr_t *end, void *arg), void *arg);

#endif
