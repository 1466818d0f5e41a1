#include "tracer/stacks/inproc_stacks.h"

#include <stdlib.h>

#include "common/alloc.h"
#include "tracer/offcpu/idhash.h"

struct inproc_stacks_stack {
    uint64_t *pcs; /* owned; NULL: the number is free */
    size_t n;
    uint32_t next; /* the next stack of the same thread, or the next free one; 0: none */
    /* The node that was last made for it, with its epoch and thread: */
    uint32_t node, epoch;
    uint16_t thread;
};

struct inproc_stacks_thread {
    pid_t tid;
    uint32_t first;
    UT_hash_handle hh;
};

struct inproc_stacks {
    struct stacks *to;
    struct inproc_stacks_stack *all; /* by number; number 0 is not used */
    size_t n, room;
    uint32_t unused;
    struct inproc_stacks_thread *threads;
};

struct inproc_stacks *inproc_stacks_new(struct stacks *s)
{
    struct inproc_stacks *g = xcalloc(1, sizeof *g);

    g->to = s;
    GROW(g->all, g->n, g->room);
    g->all[g->n++] = (struct inproc_stacks_stack){.pcs = NULL};
    return g;
}

void inproc_stacks_free(struct inproc_stacks *g)
{
    struct inproc_stacks_thread *t, *next;

    if (!g)
        return;
    HASH_ITER (hh, g->threads, t, next) {
        HASH_DEL(g->threads, t);
        free(t);
    }
    for (size_t i = 0; i < g->n; i++)
        free(g->all[i].pcs);
    free(g->all);
    free(g);
}

static struct inproc_stacks_thread *thread_of(struct inproc_stacks *g, pid_t tid)
{
    struct inproc_stacks_thread *t;

    HASH_FIND_INT(g->threads, &tid, t);
    if (!t) {
        t = xcalloc(1, sizeof *t);
        t->tid = tid;
        HASH_ADD_INT(g->threads, tid, t);
    }
    return t;
}

uint32_t inproc_stacks_add(struct inproc_stacks *g, pid_t tid, const uint64_t *pcs, size_t n)
{
    struct inproc_stacks_thread *t = thread_of(g, tid);
    uint32_t id = g->unused;

    if (id) {
        g->unused = g->all[id].next;
    } else {
        GROW(g->all, g->n, g->room);
        id = (uint32_t)g->n++;
    }
    g->all[id] = (struct inproc_stacks_stack){.n = n, .next = t->first};
    g->all[id].pcs = xreallocarray(NULL, n ? n : 1, sizeof *pcs);
    memcpy(g->all[id].pcs, pcs, n * sizeof *pcs);
    t->first = id;
    return id;
}

uint32_t inproc_stacks_node(struct inproc_stacks *g, uint32_t id, struct space *sp, pid_t tid,
                            uint16_t thread)
{
    struct inproc_stacks_stack *s;

    if (!id || id >= g->n || !g->all[id].pcs || !space_prepare(sp, tid))
        return 0;
    s = &g->all[id];
    if (!s->node || s->epoch != space_epoch(sp) || s->thread != thread) {
        s->node = stacks_inproc(g->to, sp, tid, thread, s->pcs, s->n);
        s->epoch = space_epoch(sp);
        s->thread = thread;
    }
    return s->node;
}

void inproc_stacks_drop(struct inproc_stacks *g, pid_t tid)
{
    struct inproc_stacks_thread *t;

    HASH_FIND_INT(g->threads, &tid, t);
    if (!t)
        return;
    for (uint32_t id = t->first, next; id; id = next) {
        next = g->all[id].next;
        free(g->all[id].pcs);
        g->all[id] = (struct inproc_stacks_stack){.next = g->unused};
        g->unused = id;
    }
    HASH_DEL(g->threads, t);
    free(t);
}
