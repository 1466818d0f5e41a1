/*
 * libc_heap.h: blocks that glibc's malloc has handed out, found in the memory of a stopped process
 * by their chunks' heads. No history is needed.
 *
 * A chunk's head is the word before the block: its size and three flags. Chunks follow each other
 * without gaps. Whether one is in use stands in the next one's head; chunks that wait in a thread's
 * cache or in a fast bin are in use there. Source: "Overview of Malloc" in glibc's wiki
 * (https://sourceware.org/glibc/wiki/MallocInternals); 2.26 to 2.41 agree.
 *
 * The memory may hold anything: a head that makes no sense ends its heap.
 */
#ifndef FLAME_INJECT_MEMORY_LIBC_HEAP_H
#define FLAME_INJECT_MEMORY_LIBC_HEAP_H

#include "inject/memory/procmem.h"

struct libc_block {
    uintptr_t addr;
    uint64_t size; /* what the program may use, not what it asked for */
};

/* Walks the chunks from `at`, a multiple of 16, up to `end`, and calls `found` for those in use, in
 * order of address. Returns the address at which the walk ended: `end`, or that of the first head
 * that makes no sense. */
uintptr_t libc_heap_walk(const struct procmem *m, uintptr_t at, uintptr_t end,
                         void (*found)(void *arg, const struct libc_block *b), void *arg);

/* The first chunk of an arena's heap, which begins at `heap`, a multiple of 64 MiB; *end becomes
 * the end of its used part. 0: no heap begins there. */
uintptr_t libc_heap_first(const struct procmem *m, uintptr_t heap, uintptr_t *end);

/* Whether a block has a mapping of its own that begins at `at`, a multiple of a page, where the
 * words `head` are. *after becomes the end of that mapping, which is not after `end`. */
bool libc_heap_is_mapped(const uintptr_t head[2], uintptr_t at, uintptr_t end, struct libc_block *b,
                         uintptr_t *after);

#define LIBC_HEAP_SIZE ((uintptr_t)64 << 20)

#endif
