/*
 * Two passes over the rows. The first adds up each thread's sleep; the second its sleep at each
 * stack below a call's frame, in an array by node (a node belongs to one thread). Symbols tell
 * whether a futex is a condition variable's. They are looked up only for stacks that have nine
 * tenths of their thread's sleep: at most one for each thread.
 */
#define _GNU_SOURCE
#include "fold/idle.h"

#include <stdlib.h>

#include "common/alloc.h"
#include "fold/stacks/lockframes.h"
#include "fold/analysis/offrow.h"
#include "fold/stacks/place.h"

/* Frames below the call's among which the waiting function's name is sought: glibc has
 * up to four between pthread_cond_wait and the call. */
#define NEAR 6
#define NAMES_MAX 4

struct idle {
    const struct trace *t;
    uint8_t *at;     /* by node: its thread waits for work there */
    uint64_t *slept; /* by node, ns; of nodes with `at` */
    uint32_t *nodes; /* nodes with `at` */
    size_t n;
};

static uint64_t slept(const struct trace_row *row)
{
    return off_row(row)->blocked_ns + off_row(row)->runq_ns;
}

/* The stack of a row's sleeps, without the call's frame; 0 when they do not count here. */
static uint32_t stack_of(const struct trace *t, const struct trace_row *row)
{
    uint32_t waker;

    if (!trace_row_used(row) || !off_row_waits(row))
        return 0;
    return t->nodes[off_sleeper(t, row->node, &waker)].parent;
}

static bool may_be_idle(unsigned kind)
{
    switch (kind) {
    case TRACE_OFF_LOCK:
    case TRACE_OFF_NETWORK:
    case TRACE_OFF_LOCAL:
    case TRACE_OFF_POLL:
    case TRACE_OFF_TIMER:
    case TRACE_OFF_SIGNAL:
    case TRACE_OFF_TERMINAL:
        return true;
    default:
        return false;
    }
}

static bool waits_for_work(const char *name, size_t len)
{
    static const char *const words[] = {"cond_wait",     "cond_timedwait", "cond_clockwait",
                                        "cnd_wait",      "cnd_timedwait",  "sem_wait",
                                        "sem_timedwait", "sem_clockwait"};

    for (size_t i = 0; i < ARRAY_LEN(words); i++)
        if (memmem(name, len, words[i], strlen(words[i])))
            return true;
    return false;
}

static bool is_lock(const char *name, size_t len)
{
    return memmem(name, len, "lll_lock", 8) || memmem(name, len, "mutex_", 6);
}

/* The innermost name of a node's frames; *len 0 for one that has none. */
static const char *name_of(const struct trace *t, struct symbolizer *frames, uint32_t id,
                           const struct trace_node *root, size_t *len)
{
    const struct trace_node *n = &t->nodes[id];
    struct trace_string s = {"", 0};
    const uint32_t *found;
    size_t count;

    if (n->kind == TRACE_NODE_PC) {
        found = symbolizer_of(frames, symbolizer_address(frames, n->addr, root), false, &count);
        s.s = aggregate_frame_text(symbolizer_aggregate(frames), found[count - 1], &s.len);
        s.len = place_name_len(s.s, s.len);
    }
    if (n->kind == TRACE_NODE_NAME)
        s = trace_node_name(t, n);
    *len = s.len;
    return s.s;
}

/* Whether the futex belongs to no lock. A runtime's lock may be made of a condition variable. */
static bool is_queue(const struct trace *t, struct symbolizer *frames, uint32_t id)
{
    const struct trace_node *root = trace_node_root(t, id);
    struct lock_search search = {.says = LOCK_SAYS_NOTHING};
    bool queue = false, reported = false;

    for (int i = 0; (i < NEAR || !reported) && t->nodes[id].kind != TRACE_NODE_ROOT; i++) {
        size_t len;
        const char *name = name_of(t, frames, id, root, &len);

        if (i < NEAR && is_lock(name, len))
            return false;
        queue |= i < NEAR && waits_for_work(name, len);
        reported = reported || lock_search_add(&search, name, len);
        id = t->nodes[id].parent;
    }
    return queue && search.says != LOCK_TAKES;
}

struct idle *idle_new(const struct trace *t, struct symbolizer *frames)
{
    uint64_t *by_thread = xcalloc((size_t)t->thread_limit + 1, sizeof *by_thread);
    uint8_t *futex = xcalloc((size_t)t->node_limit + 1, 1);
    struct idle *idle = xcalloc(1, sizeof *idle);

    idle->t = t;
    idle->at = xcalloc((size_t)t->node_limit + 1, 1);
    idle->slept = xcalloc((size_t)t->node_limit + 1, sizeof *idle->slept);
    for (uint32_t i = 0; i < t->row_limit; i++) {
        const struct trace_row *row = &t->rows[i];
        uint32_t node = stack_of(t, row);

        if (!node)
            continue;
        by_thread[row->thread] += slept(row);
        if (!may_be_idle(off_row(row)->kind))
            continue;
        idle->slept[node] += slept(row);
        futex[node] |= off_row(row)->kind == TRACE_OFF_LOCK;
    }
    for (uint32_t i = 0; i < t->row_limit; i++) {
        const struct trace_row *row = &t->rows[i];
        uint32_t node = stack_of(t, row);

        if (!node || idle->at[node] || !idle->slept[node] ||
            idle->slept[node] / 9 < (by_thread[row->thread] - idle->slept[node]) ||
            (futex[node] && !is_queue(t, frames, node)))
            continue;
        idle->at[node] = 1;
        idle->nodes = xreallocarray(idle->nodes, idle->n + 1, sizeof *idle->nodes);
        idle->nodes[idle->n++] = node;
    }
    free(by_thread);
    free(futex);
    return idle;
}

void idle_free(struct idle *idle)
{
    if (!idle)
        return;
    free(idle->at);
    free(idle->slept);
    free(idle->nodes);
    free(idle);
}

bool idle_row(const struct idle *idle, const struct trace_row *row)
{
    const struct trace_node *nodes = idle->t->nodes;
    uint32_t node;

    if (off_row(row)->kind == TRACE_OFF_CLASS) /* its parent is the stack with the call's frame */
        return idle->at[nodes[nodes[off_row(row)->node].parent].parent];
    node = stack_of(idle->t, row);
    return node && idle->at[node] && may_be_idle(off_row(row)->kind);
}

/* Threads of one name. */
struct namesakes {
    char comm[sizeof((struct trace_thread *)NULL)->comm + 1];
    uint64_t slept;
    size_t n;
};

static int by_comm(const void *a, const void *b)
{
    return strcmp(((const struct namesakes *)a)->comm, ((const struct namesakes *)b)->comm);
}

static int by_slept(const void *a, const void *b)
{
    const struct namesakes *x = a, *y = b;

    return x->slept != y->slept ? (x->slept < y->slept ? 1 : -1) : by_comm(a, b);
}

/* Merges the entries of each name; returns the number that are left. */
static size_t merge(struct namesakes *all, size_t n)
{
    size_t kept = 0;

    for (size_t i = 0; i < n; i++) {
        if (kept && by_comm(&all[kept - 1], &all[i]) == 0) {
            all[kept - 1].slept += all[i].slept;
            all[kept - 1].n++;
        } else {
            all[kept++] = all[i];
        }
    }
    return kept;
}

size_t idle_threads(const struct idle *idle, struct strbuf *names)
{
    struct namesakes *all = xcalloc(idle->n + 1, sizeof *all);
    size_t n = idle->n;

    for (size_t i = 0; i < n; i++) {
        const struct trace_node *root = trace_node_root(idle->t, idle->nodes[i]);
        const struct trace_thread *th = trace_thread_at(idle->t, (uint32_t)root->addr);

        all[i].slept = idle->slept[idle->nodes[i]];
        all[i].n = 1;
        if (th)
            memcpy(all[i].comm, th->comm, strnlen(th->comm, sizeof th->comm));
        else
            memcpy(all[i].comm, "unknown", sizeof "unknown");
    }
    qsort(all, n, sizeof *all, by_comm);
    n = merge(all, n);
    qsort(all, n, sizeof *all, by_slept);
    for (size_t i = 0; i < n && i < NAMES_MAX; i++) {
        strbuf_addstr(names, names->len ? ", " : "");
        if (all[i].n > 1 && all[i].n < idle->n)
            strbuf_addf(names, "%zu ", all[i].n);
        strbuf_addstr(names, all[i].comm);
    }
    if (n > NAMES_MAX)
        strbuf_addstr(names, ", ...");
    free(all);
    return idle->n;
}

uint64_t idle_slept(const struct idle *idle)
{
    uint64_t ns = 0;

    for (size_t i = 0; i < idle->n; i++)
        ns += idle->slept[idle->nodes[i]];
    return ns;
}
