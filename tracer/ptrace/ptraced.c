/*
 * ptraced.c: a table of two levels by thread id, and a list.
 *
 * Thread ids are below 2^22 and mostly close together, so a chunk of 1,024 slots is found without
 * hashing, and freed when the last of its threads is removed.
 */
#include "tracer/ptrace/ptraced.h"

#include <stdlib.h>

#include "common/alloc.h"

#define CHUNK_SHIFT 10
#define CHUNK_SLOTS (1u << CHUNK_SHIFT)
#define CHUNKS ((1u << 22) >> CHUNK_SHIFT)

struct chunk {
    unsigned used;
    struct ptraced *slot[CHUNK_SLOTS];
};

struct ptraced_table {
    struct chunk *chunk[CHUNKS];
    struct ptraced *first;
    size_t count;
};

struct ptraced_table *ptraced_new(void)
{
    return xcalloc(1, sizeof(struct ptraced_table));
}

struct ptraced *ptraced_find(const struct ptraced_table *ts, pid_t tid)
{
    unsigned at = (unsigned)tid;
    const struct chunk *p = at >> CHUNK_SHIFT < CHUNKS ? ts->chunk[at >> CHUNK_SHIFT] : NULL;

    return p ? p->slot[at % CHUNK_SLOTS] : NULL;
}

struct ptraced *ptraced_add(struct ptraced_table *ts, pid_t tid, pid_t pid)
{
    unsigned at = (unsigned)tid;
    struct chunk **p = &ts->chunk[(at >> CHUNK_SHIFT) % CHUNKS];
    struct ptraced *t = xcalloc(1, sizeof *t);

    if (!*p)
        *p = xcalloc(1, sizeof **p);
    (*p)->used++;
    (*p)->slot[at % CHUNK_SLOTS] = t;
    t->tid = tid;
    t->pid = pid;
    t->next = ts->first;
    if (ts->first)
        ts->first->prev = t;
    ts->first = t;
    ts->count++;
    return t;
}

void ptraced_remove(struct ptraced_table *ts, struct ptraced *t)
{
    unsigned at = (unsigned)t->tid;
    struct chunk **p = &ts->chunk[(at >> CHUNK_SHIFT) % CHUNKS];

    (*p)->slot[at % CHUNK_SLOTS] = NULL;
    if (--(*p)->used == 0) {
        free(*p);
        *p = NULL;
    }
    if (t->prev)
        t->prev->next = t->next;
    else
        ts->first = t->next;
    if (t->next)
        t->next->prev = t->prev;
    ts->count--;
    free(t);
}

size_t ptraced_count(const struct ptraced_table *ts)
{
    return ts->count;
}

struct ptraced *ptraced_first(const struct ptraced_table *ts)
{
    return ts->first;
}
