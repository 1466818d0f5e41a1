#include "inject/memory/libc_heap.h"

#include <stdlib.h>

#include "common/alloc.h"

#define PAGE ((uintptr_t)4096)
#define WINDOW ((size_t)256 << 10)
#define IN_USE 1u /* of the chunk before */
#define MAPPED 2u
#define FLAGS 7u
#define HEAD 16u /* bytes from a chunk's beginning to its block */
#define SMALLEST 32u
/* Bytes of the chunks that end a heap that is not an arena's last one. */
#define FENCES 32u
/* Smallest block with a mapping of its own, as malloc has it. */
#define MAPPED_LEAST ((uint64_t)32 << 10)
/* glibc's struct heap_info and struct malloc_state have different sizes in different versions. */
#define HEAP_INFO_LEAST 32u
#define HEAP_INFO_MOST 64u
#define ARENA_LEAST 2048u
#define ARENA_MOST 2560u

/* ---- heads ---- */

struct heads {
    const struct procmem *m;
    uint8_t *window;
    uintptr_t at; /* address of the window */
    size_t size;  /* bytes in it */
};

/* The head of the chunk at `chunk`. */
static bool head_of(struct heads *h, uintptr_t chunk, uintptr_t end, uint64_t *head)
{
    uintptr_t at = chunk + 8;

    if (end - chunk < 16)
        return false;
    if (at - h->at >= h->size || h->size - (at - h->at) < sizeof *head) {
        size_t size = end - at < WINDOW ? end - at : WINDOW;

        h->at = at;
        h->size = 0;
        while (!procmem_read(h->m, at, h->window, size)) {
            size /= 2;
            if (size < sizeof *head)
                return false;
        }
        h->size = size;
    }
    memcpy(head, h->window + (at - h->at), sizeof *head);
    return true;
}

/* Whether a chunk of that head can lie at `chunk`. */
static bool makes_sense(uint64_t head, uintptr_t chunk, uintptr_t end)
{
    uint64_t size = head & ~(uint64_t)FLAGS;

    return size >= SMALLEST && size % 16 == 0 && size <= end - chunk && !(head & MAPPED);
}

uintptr_t libc_heap_walk(const struct procmem *m, uintptr_t at, uintptr_t end,
                         void (*found)(void *arg, const struct libc_block *b), void *arg)
{
    struct heads h = {.m = m, .window = xmalloc(WINDOW)};
    uint64_t head, next;

    while (at < end && head_of(&h, at, end, &head)) {
        uint64_t size = head & ~(uint64_t)FLAGS;

        if (!makes_sense(head, at, end)) {
            if (end - at <= FENCES && (size == 16 || size == 0))
                at = end;
            break;
        }
        /* The last chunk is free memory. */
        if (at + size < end && head_of(&h, at + size, end, &next) && next & IN_USE && found)
            found(arg, &(struct libc_block){at + HEAD, size - 8});
        at += size;
    }
    free(h.window);
    return at;
}

/* ---- arenas ---- */

struct heap_info {
    uintptr_t arena, before;
    uint64_t size, mapped;
};

static bool is_heap(const struct heap_info *h, uintptr_t at)
{
    return h->size >= PAGE && h->size <= h->mapped && h->mapped <= LIBC_HEAP_SIZE &&
           h->size % PAGE == 0 && h->mapped % PAGE == 0 && h->arena % 16 == 0 &&
           h->arena > LIBC_HEAP_SIZE && h->before % LIBC_HEAP_SIZE == 0 &&
           /* The arena lies in its first heap, after the head. */
           (h->before ? h->arena / LIBC_HEAP_SIZE != at / LIBC_HEAP_SIZE
                      : h->arena - at >= HEAP_INFO_LEAST && h->arena - at <= HEAP_INFO_MOST);
}

uintptr_t libc_heap_first(const struct procmem *m, uintptr_t heap, uintptr_t *end)
{
    struct heap_info h;
    uintptr_t lo, hi;

    if (!procmem_read(m, heap, &h, sizeof h) || !is_heap(&h, heap))
        return 0;
    *end = heap + h.size;
    lo = h.before ? heap + HEAP_INFO_LEAST : h.arena + ARENA_LEAST;
    hi = h.before ? heap + HEAP_INFO_MOST : h.arena + ARENA_MOST;
    for (uintptr_t at = lo & -(uintptr_t)16; at <= hi && at < *end; at += 16)
        if (libc_heap_walk(m, at, *end, NULL, NULL) == *end)
            return at;
    return 0;
}

/* ---- blocks with mappings of their own ---- */

bool libc_heap_is_mapped(const uintptr_t head[2], uintptr_t at, uintptr_t end, struct libc_block *b,
                         uintptr_t *after)
{
    uint64_t size = head[1] & ~(uint64_t)FLAGS;

    /* Where the block has an alignment, the first word is the space before it. */
    if ((head[1] & FLAGS) != MAPPED || head[0] != 0 || size % PAGE || size < MAPPED_LEAST ||
        size > end - at)
        return false;
    *b = (struct libc_block){at + HEAD, size - HEAD};
    *after = at + size;
    return true;
}
