#define _GNU_SOURCE
#include "inject/maps_snapshot.h"

#include <stdlib.h>

#include "common/alloc.h"
#include "common/procmaps.h"

struct look {
    struct maps_snapshot *to;
    size_t n;
};

static void note_name(struct maps_snapshot *m, const struct procmap *map)
{
    static const char *const parts[] = {"/libasan.so", "/libtsan.so", "/libhwasan.so",
                                        "/libflamemem.so"};

    for (size_t i = 0; i < ARRAY_LEN(parts); i++)
        if (memmem(map->name, map->name_len, parts[i], strlen(parts[i]))) {
            char *name = xmalloc(map->name_len + 1);

            memcpy(name, map->name, map->name_len);
            name[map->name_len] = '\0';
            GROW(m->odd, m->nodd, m->odd_room);
            m->odd[m->nodd++] = name;
        }
}

static bool visit(const struct procmap *map, void *arg)
{
    struct look *l = arg;
    struct maps_snapshot *m = l->to;
    struct maps_snapshot_map one = {
        .start = map->start,
        .end = map->end,
        .read = map->read,
        .write = map->write,
        .exec = map->exec,
        .shared = map->shared,
        .stack = map->stack,
        .heap = map->name_len == 6 && memcmp(map->name, "[heap]", 6) == 0,
        .device = (uint64_t)map->major << 32 | map->minor,
        .inode = map->inode,
    };

    if (l->n < m->n) {
        struct maps_snapshot_map *was = &m->maps[l->n];

        m->changed = m->changed || was->start != one.start || was->end != one.end ||
                     was->exec != one.exec || was->write != one.write || was->inode != one.inode;
        *was = one;
    } else {
        m->changed = true;
        GROW(m->maps, m->n, m->room);
        m->maps[m->n++] = one;
        if (map->inode)
            note_name(m, map);
    }
    l->n++;
    return false;
}

static void find_loader(struct maps_snapshot *m, uintptr_t loader)
{
    m->loader_start = m->loader_end = 0;
    for (size_t i = 0; loader && i < m->n; i++)
        if (m->maps[i].exec && maps_snapshot_same_file(m, m->maps[i].start, loader)) {
            m->loader_start = m->maps[i].start;
            m->loader_end = m->maps[i].end;
        }
}

bool maps_snapshot_read(struct maps_snapshot *m, pid_t pid, uintptr_t loader)
{
    struct look l = {.to = m};

    m->changed = false;
    procmaps_each(pid, visit, &l);
    m->changed = m->changed || l.n != m->n;
    m->n = l.n;
    find_loader(m, loader);
    return l.n > 0;
}

void maps_snapshot_release(struct maps_snapshot *m)
{
    for (size_t i = 0; i < m->nodd; i++)
        free(m->odd[i]);
    free(m->odd);
    free(m->maps);
    *m = (struct maps_snapshot){.n = 0};
}

const struct maps_snapshot_map *maps_snapshot_find(const struct maps_snapshot *m, uintptr_t at)
{
    size_t lo = 0, hi = m->n;

    while (lo < hi) {
        size_t mid = lo + (hi - lo) / 2;

        if (m->maps[mid].end <= at)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo < m->n && m->maps[lo].start <= at ? &m->maps[lo] : NULL;
}

bool maps_snapshot_same_file(const struct maps_snapshot *m, uintptr_t a, uintptr_t b)
{
    const struct maps_snapshot_map *x = maps_snapshot_find(m, a), *y = maps_snapshot_find(m, b);

    return x && y && x->inode && x->inode == y->inode && x->device == y->device;
}

bool maps_snapshot_has(const struct maps_snapshot *m, const char *part, const char **name)
{
    for (size_t i = 0; i < m->nodd; i++)
        if (strstr(m->odd[i], part)) {
            *name = m->odd[i];
            return true;
        }
    return false;
}
