#include "tracer/faults/faultmaps.h"

#include <stdlib.h>

#include "common/alloc.h"

static struct procmap with_name(const struct procmap *m)
{
    struct procmap own = *m;
    char *name = xmalloc(m->name_len + 1);

    memcpy(name, m->name, m->name_len);
    name[m->name_len] = '\0';
    own.name = name;
    return own;
}

static void insert(struct faultmaps *f, size_t at, const struct procmap *m)
{
    struct procmap own = with_name(m);

    GROW(f->maps, f->n, f->room);
    memmove(&f->maps[at + 1], &f->maps[at], (f->n - at) * sizeof *f->maps);
    f->maps[at] = own;
    f->n++;
}

static void take_out(struct faultmaps *f, size_t at)
{
    free((char *)f->maps[at].name);
    f->n--;
    memmove(&f->maps[at], &f->maps[at + 1], (f->n - at) * sizeof *f->maps);
}

static void cut_start(struct procmap *m, uintptr_t start)
{
    m->offset += start - m->start;
    m->start = start;
}

/* Removes the mappings in [start, end), in part where they are longer. */
static void clear(struct faultmaps *f, uintptr_t start, uintptr_t end)
{
    for (size_t i = 0; i < f->n && f->maps[i].start < end; i++) {
        struct procmap *m = &f->maps[i];

        if (m->end <= start)
            continue;
        if (m->start < start && m->end > end) {
            struct procmap rest = *m;

            cut_start(&rest, end);
            m->end = start;
            insert(f, i + 1, &rest);
            return;
        }
        if (m->start < start)
            m->end = start;
        else if (m->end > end)
            cut_start(m, end);
        else
            take_out(f, i--);
    }
}

void faultmaps_add(struct faultmaps *f, const struct procmap *m)
{
    size_t at = 0;

    if (m->start >= m->end)
        return;
    clear(f, m->start, m->end);
    while (at < f->n && f->maps[at].start < m->start)
        at++;
    insert(f, at, m);
}

void faultmaps_copy(struct faultmaps *to, const struct faultmaps *from)
{
    for (size_t i = 0; i < from->n; i++)
        insert(to, i, &from->maps[i]);
}

void faultmaps_release(struct faultmaps *f)
{
    while (f->n)
        take_out(f, f->n - 1);
    free(f->maps);
    *f = (struct faultmaps){.maps = NULL};
}
