/*
 * threads.c: a table of two levels by thread id, and a list.
 *
 * Thread ids are below 2^22 and mostly close together, so a page of 1,024 slots is
 * found without hashing and given back when the last of its threads has gone.
 */
#include "tracer/threads.h"

#include <stdlib.h>

#include "common/strbuf.h"

#define PAGE_SHIFT 10
#define PAGE_SLOTS (1u << PAGE_SHIFT)
#define PAGES ((1u << 22) >> PAGE_SHIFT)

struct page {
    unsigned used;
    struct thread *slot[PAGE_SLOTS];
};

struct threads {
    struct page *page[PAGES];
    struct thread *first;
    size_t count;
};

struct threads *threads_new(void)
{
    return xcalloc(1, sizeof(struct threads));
}

void threads_free(struct threads *ts)
{
    if (!ts)
        return;
    while (ts->first)
        threads_remove(ts, ts->first);
    free(ts);
}

struct thread *threads_find(const struct threads *ts, pid_t tid)
{
    unsigned at = (unsigned)tid;
    const struct page *p = at >> PAGE_SHIFT < PAGES ? ts->page[at >> PAGE_SHIFT] : NULL;

    return p ? p->slot[at % PAGE_SLOTS] : NULL;
}

struct thread *threads_add(struct threads *ts, pid_t tid, pid_t pid)
{
    unsigned at = (unsigned)tid;
    struct page **p = &ts->page[(at >> PAGE_SHIFT) % PAGES];
    struct thread *t = xcalloc(1, sizeof *t);

    if (!*p)
        *p = xcalloc(1, sizeof **p);
    (*p)->used++;
    (*p)->slot[at % PAGE_SLOTS] = t;
    t->tid = tid;
    t->pid = pid;
    t->next = ts->first;
    if (ts->first)
        ts->first->prev = t;
    ts->first = t;
    ts->count++;
    return t;
}

void threads_remove(struct threads *ts, struct thread *t)
{
    unsigned at = (unsigned)t->tid;
    struct page **p = &ts->page[(at >> PAGE_SHIFT) % PAGES];

    (*p)->slot[at % PAGE_SLOTS] = NULL;
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

size_t threads_count(const struct threads *ts)
{
    return ts->count;
}

struct thread *threads_first(const struct threads *ts)
{
    return ts->first;
}
