/*
 * Two passes over the rows. The first adds up, for each thread, what it slept in all;
 * the second what it slept at each stack below a call's frame, in an array by node (a
 * node belongs to one thread). Whether a futex is a condition variable's is asked of the
 * symbols only for stacks that have nine tenths of their thread's sleep, which is at
 * most one for each thread.
 */
#define _GNU_SOURCE
#include "fold/idle.h"

#include <stdlib.h>

#include "fold/offrow.h"
#include "fold/place.h"

/* Frames below the call's among which the waiting function's name is sought: glibc has
 * up to four between pthread_cond_wait and the call. */
#define NEAR 6
#define NAMES_MAX 4

struct idle {
    const struct trace *t;
    uint8_t *at;     /* by node: its thread waits for work there */
    uint64_t *slept; /* by node, ns; of nodes with `at` */
    uint32_t *nodes; /* those with `at` */
    size_t n;
};

static uint64_t slept(const struct trace_row *row)
{
    return off_row(row)->blocked_ns + off_row(row)->runq_ns;
}

/* The stack a row's sleeps were in, without the call's frame; 0 when they count for
 * nothing here. */
static uint32_t stack_of(const struct trace *t, const struct trace_row *row)
{
    uint32_t waker;

    if (!trace_row_used(row) || off_row(row)->kind == TRACE_OFF_ONCPU)
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
static const char *name_of(const struct trace *t, struct frames *frames, uint32_t id,
                           const struct trace_node *root, size_t *len)
{
    const struct trace_node *n = &t->nodes[id];
    struct trace_string s = {"", 0};
    const uint32_t *found;
    size_t count;

    if (n->kind == TRACE_NODE_PC) {
        found = frames_of(frames, frames_address(frames, n->addr, root), false, &count);
        s.s = aggregate_frame_text(frames_aggregate(frames), found[count - 1], &s.len);
        s.len = place_name_len(s.s, s.len);
    }
    if (n->kind == TRACE_NODE_NAME)
        s = trace_node_name(t, n);
    *len = s.len;
    return s.s;
}

/* A futex that no lock is about. */
static bool is_queue(const struct trace *t, struct frames *frames, uint32_t id)
{
    const struct trace_node *root = trace_node_root(t, id);
    bool queue = false;

    for (int i = 0; i < NEAR && t->nodes[id].kind != TRACE_NODE_ROOT; i++) {
        size_t len;
        const char *name = name_of(t, frames, id, root, &len);

        if (is_lock(name, len))
            return false;
        queue |= waits_for_work(name, len);
        id = t->nodes[id].parent;
    }
    return queue;
}

struct idle *idle_new(const struct trace *t, struct frames *frames)
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
    uint32_t node = stack_of(idle->t, row);

    return node && idle->at[node] && may_be_idle(off_row(row)->kind);
}

size_t idle_threads(const struct idle *idle, struct strbuf *names)
{
    uint8_t *named = xcalloc(idle->n, 1);

    for (size_t i = 0; i < idle->n && i < NAMES_MAX; i++) {
        const struct trace_thread *th;
        size_t most = idle->n;

        for (size_t k = 0; k < idle->n; k++)
            if (!named[k] &&
                (most == idle->n || idle->slept[idle->nodes[k]] > idle->slept[idle->nodes[most]]))
                most = k;
        named[most] = 1;
        th = trace_thread_at(idle->t, (uint32_t)trace_node_root(idle->t, idle->nodes[most])->addr);
        strbuf_addstr(names, names->len ? ", " : "");
        if (th)
            strbuf_add(names, th->comm, strnlen(th->comm, sizeof th->comm));
        else
            strbuf_addstr(names, "unknown");
    }
    if (idle->n > NAMES_MAX)
        strbuf_addstr(names, ", ...");
    free(named);
    return idle->n;
}
