#include "inject/old_blocks.h"

#include <stdlib.h>

#include "common/alloc.h"
#include "inject/memory/remote_pages.h"

#define PAGE ((uintptr_t)4096)

bool old_blocks_are_known(const struct procmem *m, const struct linkmap *link,
                          const struct maps_snapshot *maps, uintptr_t real)
{
    for (size_t i = 0; i < link->n; i++) {
        uintptr_t at = linked_defines(&link->modules[i], m, "gnu_get_libc_version");

        if (at)
            return maps_snapshot_same_file(maps, at, real);
    }
    return false;
}

static void add(void *arg, const struct libc_block *b)
{
    struct old_blocks *o = arg;

    GROW(o->block, o->n, o->room);
    o->block[o->n++] = *b;
}

static void walk(struct old_blocks *o, const struct procmem *m, uintptr_t at, uintptr_t end)
{
    o->broken += libc_heap_walk(m, at, end, add, o) != end;
}

struct search {
    struct old_blocks *o;
    const struct procmem *m;
    uintptr_t next, end; /* nothing before `next` is looked at; the end of the memory that may
                            belong to a heap or block */
};

/* Searches pages that are there for heaps of arenas, and for blocks with mappings of their own. The
 * kernel joins mappings that lie side by side. */
static void look(void *arg, uintptr_t at, const uintptr_t *words, size_t n)
{
    struct search *s = arg;

    for (size_t i = (-at & (PAGE - 1)) / sizeof *words; i + 2 <= n; i += PAGE / sizeof *words) {
        uintptr_t page = at + i * sizeof *words, first = 0, end;
        struct libc_block b;

        if (page < s->next)
            continue;
        if (page % LIBC_HEAP_SIZE == 0)
            first = libc_heap_first(s->m, page, &end);
        if (first) {
            GROW(s->o->own, s->o->nown, s->o->own_room);
            s->o->own[s->o->nown++] = (struct own_range){page, first};
        }
        if (first)
            walk(s->o, s->m, first, end < s->end ? end : s->end);
        else if (libc_heap_is_mapped(words + i, page, s->end, &b, &end))
            add(s->o, &b);
        else
            continue;
        s->next = end;
    }
}

static bool is_anonymous(const struct maps_snapshot_map *map)
{
    return !map->inode && !map->shared && !map->stack;
}

/* The end of the memory that begins with mapping i. Where the program has protected pages of a heap
 * or block, as a guard, that is several mappings side by side. */
static uintptr_t end_of(const struct maps_snapshot *maps, size_t i)
{
    const struct maps_snapshot_map *map = &maps->maps[i], *next;

    for (; i + 1 < maps->n; i++) {
        next = &maps->maps[i + 1];
        if (next->start != maps->maps[i].end || next->heap != map->heap || !is_anonymous(next))
            break;
    }
    return maps->maps[i].end;
}

void old_blocks_find(struct old_blocks *o, const struct procmem *m,
                     const struct maps_snapshot *maps)
{
    struct remote_pages pages;
    struct search s = {.o = o, .m = m};

    *o = (struct old_blocks){.n = 0};
    remote_pages_begin(&pages, m);
    for (size_t i = 0; i < maps->n; i++) {
        const struct maps_snapshot_map *map = &maps->maps[i];

        if (map->start < s.next && map->end <= s.next)
            continue; /* of a heap that has been walked */
        s.end = end_of(maps, i);
        if (map->heap) {
            walk(o, m, (map->start + 15) & ~(uintptr_t)15, s.end);
            s.next = s.end;
        } else if (is_anonymous(map) && map->read && map->write) {
            remote_pages_range(&pages, map->start, map->end, NULL, look, &s);
        }
    }
    remote_pages_end(&pages);
}

void old_blocks_forget(struct old_blocks *o)
{
    free(o->block);
    o->block = NULL;
    o->n = o->room = 0;
}

void old_blocks_release(struct old_blocks *o)
{
    free(o->block);
    free(o->own);
    *o = (struct old_blocks){.n = 0};
}
