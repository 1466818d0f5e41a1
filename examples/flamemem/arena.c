/*
 * An arena that reports the blocks it hands out, so that they are recorded by stack.
 *
 *     cc -g -I PREFIX/include -o arena arena.c
 *     flame mem --view live -o arena.svg -- ./arena
 *
 * Without the calls all of it would be one block of new_arena. With them parse_names and
 * parse_numbers have theirs, and new_arena has the memory that is not handed out yet. Blocks in the
 * arena end with its memory; an earlier report of their end costs nothing, and is needed if the
 * memory remains.
 */
#include <stdio.h>
#include <stdlib.h>

#include "flamemem.h"

#define SIZE 65536

struct arena {
    char *memory, *last;
    size_t used;
};

static void new_arena(struct arena *a)
{
    *a = (struct arena){.memory = malloc(SIZE)};
    flamemem_pool_create(a);
    flamemem_pool_add(a, a->memory, SIZE);
}

static void *take(struct arena *a, size_t size)
{
    char *p = a->memory + a->used;

    a->used += size;
    a->last = p;
    flamemem_pool_alloc(a, p, size);
    return p;
}

/* The last one alone can grow. */
static void grow_last(struct arena *a, size_t size)
{
    a->used = (size_t)(a->last - a->memory) + size;
    flamemem_pool_realloc(a, a->last, a->last, size);
}

static void give_back_last(struct arena *a)
{
    a->used = (size_t)(a->last - a->memory);
    flamemem_pool_free(a, a->last);
}

static void free_arena(struct arena *a)
{
    flamemem_pool_destroy(a);
    free(a->memory);
}

static void parse_names(struct arena *a)
{
    for (int i = 0; i < 100; i++)
        snprintf(take(a, 32), 32, "name %d", i);
}

static void parse_numbers(struct arena *a)
{
    for (int i = 0; i < 100; i++)
        *(int *)take(a, 16) = i;
    grow_last(a, 160);
    take(a, 1000);
    give_back_last(a);
}

int main(void)
{
    static struct arena kept;
    struct arena scratch;

    new_arena(&kept);
    parse_names(&kept);
    parse_numbers(&kept);
    new_arena(&scratch);
    parse_names(&scratch);
    free_arena(&scratch);
    printf("%zu bytes used\n", kept.used);
    return 0;
}
