/*
 * Rules about waits: the lock, the longest wait that is no structural one, and structural waits:
 * for children, for threads, for work.
 *
 * The call and the functions around it tell the purpose of a wait, as in contended_lock.h. A read
 * of a pipe counts as a wait for a child if its program waits for children as well: shells read the
 * output of a command, and make reads the tokens of its job server.
 */
#define _GNU_SOURCE
#include "render/findings/findingrules.h"

#include <stdlib.h>

#include "common/alloc.h"
#include "common/str_starts.h"
#include "render/findings/contended_lock.h"
#include "render/framename.h"

#define LEAST 0.05      /* of waits that are not structural, or of all that the rule counts */
#define LOCK_LEAST 0.01 /* of all waits */
#define RUNQ_LEAST 0.2  /* of the time on CPUs and of run-queue waits together */
#define REACH 64        /* innermost frames that are examined */
#define NEAR 16         /* of them, those with the C library's functions */

enum wait {
    WAIT_NONE,
    WAIT_REAL,
    WAIT_LOCK,
    WAIT_CHILDREN,
    WAIT_THREADS,
    WAIT_PIPE, /* may be a wait for a child */
    WAIT_WORK,
    WAIT_KINDS,
};

/* ---- a column as stacks ---- */

struct tree_stacks {
    struct waited_stacks stacks;
    const struct frametree *t;
    const double *own;
    const struct look_ends *ends;
    size_t nth;        /* of the ends, behind the last one returned */
    uint32_t *sleeper; /* by node: the sleeper's call on its stack, or the node itself inside a
                          sleeper's part */
};

/* The frames of the stack that ends in `node`, from the root on, as many as there is room for. */
static void frames_of(const struct frametree *t, uint32_t node, struct waited_frames *f)
{
    size_t n = 0;

    for (uint32_t i = node; i; i = t->nodes[i].parent)
        n++;
    f->n = n < ARRAY_LEN(f->s) ? n : ARRAY_LEN(f->s);
    for (; n > f->n; n--)
        node = t->nodes[node].parent;
    for (; n-- > 0; node = t->nodes[node].parent) {
        const struct frametree_name *name = frametree_name(t, node);

        f->s[n] = name->s;
        f->len[n] = name->len;
    }
}

static bool next_of_tree(struct waited_stacks *stacks, uint64_t *us)
{
    struct tree_stacks *s = (struct tree_stacks *)stacks;

    if (s->nth == s->ends->n)
        return false;
    stacks->at = s->ends->node[s->nth++];
    stacks->sleeper = s->sleeper[stacks->at];
    *us = (uint64_t)s->own[stacks->at];
    return true;
}

static void tree_frames(struct waited_stacks *stacks, struct waited_frames *f, bool whole)
{
    frames_of(((struct tree_stacks *)stacks)->t, (uint32_t)(whole ? stacks->at : stacks->sleeper),
              f);
}

static void tree_again(struct waited_stacks *stacks)
{
    ((struct tree_stacks *)stacks)->nth = 0;
}

static bool is_separator(const struct frametree_name *n)
{
    return n->len == 2 && memcmp(n->s, "--", 2) == 0;
}

/* The sleeper's call of each node. The sleeper's part of a stack is the frames before the first
 * "--". Callers have lower numbers, so theirs is known first. */
static uint32_t *sleepers_of(const struct frametree *t)
{
    uint32_t *sleeper = xreallocarray(NULL, t->n, sizeof *sleeper), separator = t->nnames;

    for (uint32_t i = 0; i < t->nnames; i++)
        if (is_separator(&t->names[i]))
            separator = i;
    sleeper[0] = 0;
    for (uint32_t i = 1; i < t->n; i++) {
        uint32_t caller = t->nodes[i].parent;

        sleeper[i] = sleeper[caller] != caller                 ? sleeper[caller]
                     : t->nodes[i].name == separator && caller ? caller
                                                               : i;
    }
    return sleeper;
}

/* ---- one stack ---- */

/* The innermost frames of a stack, the call's last, with their nodes. */
struct inner {
    struct waited_frames frames;
    uint32_t node[REACH];
};

static void inner_of(const struct look *k, uint32_t node, struct inner *in)
{
    size_t n = 0;

    for (uint32_t i = node; i && n < REACH; i = k->t->nodes[i].parent)
        n++;
    in->frames.n = n;
    for (uint32_t i = node; n-- > 0; i = k->t->nodes[i].parent) {
        in->frames.s[n] = frametree_name(k->t, i)->s;
        in->frames.len[n] = frametree_name(k->t, i)->len;
        in->node[n] = i;
    }
}

static bool any_begins(const char *s, size_t len, const char *const *with)
{
    for (; *with; with++)
        if (bytes_start_with(s, len, *with))
            return true;
    return false;
}

/* Whether a part is in the name of one of the NEAR functions around the call. */
static bool holds(const struct waited_frames *f, const char *const *parts)
{
    size_t least = f->n > NEAR + 1 ? f->n - NEAR - 1 : 0;

    for (size_t i = f->n - 1; i-- > least;)
        for (const char *const *p = parts; *p; p++)
            if (memmem(f->s[i], f->len[i], *p, strlen(*p)))
                return true;
    return false;
}

static enum wait wait_of(const struct inner *in)
{
    static const char *const children[] = {"wait4 ", "waitid ", NULL};
    static const char *const work[] = {
        "epoll_",          "accept", "poll",          "ppoll",           "select", "pselect6",
        "rt_sigtimedwait", "pause",  "rt_sigsuspend", "mq_timedreceive", NULL};
    static const char *const joins[] = {"pthread_join",    "pthread_clockjoin", "pthread_timedjoin",
                                        "pthread_tryjoin", "thrd_join",         NULL};
    static const char *const conditions[] = {
        "pthread_cond_", "cnd_wait", "cnd_timedwait", "sem_wait", "sem_timedwait",
        "sem_clockwait", NULL};
    /* On a critical path: not a wait. */
    static const char *const busy[] = {"[running]", "[stopped by the tracer]",
                                       "[waiting for the tracer]", NULL};
    const struct waited_frames *f = &in->frames;
    const char *s = f->s[f->n - 1];
    size_t len = f->len[f->n - 1];

    if (any_begins(s, len, busy))
        return WAIT_NONE;
    if (any_begins(s, len, children))
        return WAIT_CHILDREN;
    if (bytes_start_with(s, len, "futex") && holds(f, joins))
        return WAIT_THREADS;
    if (waited_is_lock(f, f->n))
        return WAIT_LOCK;
    if (any_begins(s, len, work) || (bytes_start_with(s, len, "futex") && holds(f, conditions)))
        return WAIT_WORK;
    if (bytes_start_with(s, len, "read pipe"))
        return WAIT_PIPE;
    return WAIT_REAL;
}

/* The program's own innermost function, where a Python function precedes those of its
 * interpreter. If no function has a name, the thread's own frame, next to the root. */
static uint32_t own_function(const struct look *k, const struct inner *in)
{
    const struct waited_frames *f = &in->frames;
    size_t call = f->n - 1, own = 0;
    uint32_t root = in->node[0];

    for (size_t i = call; i-- > 1;) {
        if (bytes_start_with(f->s[i], f->len[i], "py::"))
            return in->node[i];
        if (!own && waited_is_own(f, i, call))
            own = i;
    }
    while (k->t->nodes[root].parent)
        root = k->t->nodes[root].parent;
    return own ? in->node[own] : root;
}

/* ---- all waits of a column ---- */

struct waits {
    uint8_t *kind;   /* enum wait, by node that is the end of a stack */
    uint32_t *owner; /* by node, the waiting function's frame */
    uint32_t *to;    /* by node; scratch space of longest() */
    double sum[WAIT_KINDS], total;
};

/* Finds programs that wait for children, by number of their root's name. */
static bool *parents_of(const struct look *k, const struct look_ends *ends, const uint8_t *kind)
{
    bool *parent = xcalloc(k->t->nnames, sizeof *parent);

    for (size_t i = 0; i < ends->n; i++) {
        uint32_t at = ends->node[i];

        if (kind[at] != WAIT_CHILDREN)
            continue;
        while (k->t->nodes[at].parent)
            at = k->t->nodes[at].parent;
        parent[k->t->nodes[at].name] = true;
    }
    return parent;
}

/* Decides which waits for pipes are for children, and adds up by kind. */
static void settle(struct look *k, const double *own, const struct look_ends *ends, struct waits *w)
{
    bool *parent = parents_of(k, ends, w->kind);

    for (size_t e = 0; e < ends->n; e++) {
        uint32_t i = ends->node[e], at = i;

        if (w->kind[i] == WAIT_PIPE) {
            while (k->t->nodes[at].parent)
                at = k->t->nodes[at].parent;
            if (!parent[k->t->nodes[at].name])
                w->kind[i] = WAIT_REAL;
        }
        if (w->kind[i]) {
            w->sum[w->kind[i]] += own[i];
            w->total += own[i];
        }
    }
    free(parent);
}

static void look_at_waits(struct look *k, uint32_t column, struct waits *w)
{
    const struct look_ends *ends = look_ends(k, column);
    struct inner *in = xcalloc(1, sizeof *in);

    in->frames.memo = xcalloc(1, sizeof *in->frames.memo);
    *w = (struct waits){.kind = xcalloc(k->t->n, 1),
                        .owner = xcalloc(k->t->n, sizeof *w->owner),
                        .to = xcalloc(k->t->n, sizeof *w->to)};
    for (size_t e = 0; e < ends->n; e++) {
        uint32_t i = ends->node[e];

        inner_of(k, i, in);
        w->kind[i] = (uint8_t)wait_of(in);
        w->owner[i] = own_function(k, in);
    }
    settle(k, look_own(k, column), ends, w);
    free(in->frames.memo);
    free(in);
}

static void waits_release(struct waits *w)
{
    free(w->kind);
    free(w->owner);
    free(w->to);
}

/* Finds the function with the longest waits of that kind, and the call with most of them. */
static bool longest(struct look *k, uint32_t column, const struct waits *w, enum wait kind,
                    struct owner *who, uint32_t *call)
{
    const struct look_ends *ends = look_ends(k, column);
    const double *own = look_own(k, column);
    uint32_t *to = w->to; /* set for all ends in each call */
    bool found;

    if (!(w->sum[kind] > 0))
        return false;
    for (size_t e = 0; e < ends->n; e++) {
        uint32_t i = ends->node[e];

        to[i] = w->kind[i] == kind ? w->owner[i] : FRAMETREE_NONE;
    }
    found = owner_find(k, column, own, to, who);
    *call = 0;
    for (size_t e = 0; found && e < ends->n; e++) {
        uint32_t i = ends->node[e];

        if (to[i] == who->node && (!*call || own[i] > own[*call]))
            *call = i;
    }
    return found;
}

static double real_of(const struct waits *w)
{
    return w->sum[WAIT_REAL] + w->sum[WAIT_LOCK];
}

static void add_call(struct look *k, struct strbuf *sb, uint32_t node)
{
    const struct frametree_name *n = frametree_name(k->t, node);
    struct strbuf clean = STRBUF_INIT;

    framename_add_clean(&clean, n->s, n->len);
    waited_add_short(sb, clean.buf);
    strbuf_release(&clean);
}

static void say_longest(struct look *k, const struct rule *r, uint32_t column,
                        const struct waits *w)
{
    struct strbuf sb = STRBUF_INIT;
    struct owner who;
    uint32_t call;

    if (!longest(k, column, w, WAIT_REAL, &who, &call) || who.sum < LEAST * real_of(w))
        return;
    strbuf_addf(&sb, "%s ", r->says);
    look_add_function(k, &sb, who.node);
    strbuf_addstr(&sb, ": ");
    look_add_amount(k, &sb, column, who.sum);
    strbuf_addstr(&sb, ", ");
    look_add_share(&sb, who.sum, w->total);
    strbuf_addstr(&sb, strcmp(k->o->columns[column].name, "critical") == 0
                           ? " of all waiting on it, "
                           : " of all blocked time, ");
    strbuf_addstr(&sb,
                  who.sum > who.part || look_own(k, column)[call] < who.sum ? "most in " : "in ");
    add_call(k, &sb, call);
    look_say(k, r->name, r->base + 10 * who.sum / real_of(w), &sb, column, who.node);
}

static void say_structural(struct look *k, uint32_t column, const struct waits *w)
{
    static const struct {
        enum wait kind;
        const char *says;
    } kinds[] = {
        {WAIT_CHILDREN, "Waited for its children"},
        {WAIT_PIPE, "Waited for what its children print"},
        {WAIT_THREADS, "Waited for its threads to end"},
        {WAIT_WORK, "Waited for work or for others"},
    };

    for (size_t i = 0; i < ARRAY_LEN(kinds); i++) {
        struct strbuf sb = STRBUF_INIT;
        struct finding *f;
        struct owner who;
        uint32_t call;
        double sum = w->sum[kinds[i].kind];

        if (sum < LEAST * w->total || !longest(k, column, w, kinds[i].kind, &who, &call))
            continue;
        strbuf_addf(&sb, "%s: ", kinds[i].says);
        look_add_amount(k, &sb, column, sum);
        strbuf_addstr(&sb, ", ");
        look_add_share(&sb, sum, w->total);
        strbuf_addstr(&sb, " of all blocked time, ");
        look_add_mostly(&sb, who.sum, sum);
        strbuf_addstr(&sb, "in ");
        look_add_function(k, &sb, who.node);
        strbuf_addstr(&sb, " by ");
        add_call(k, &sb, call);
        f = look_say(k, "structural", 10 * sum / w->total, &sb, column, who.node);
        f->structural = true;
    }
}

void rule_waits(struct look *k, const struct rule *r, uint32_t column)
{
    struct waits w;

    look_at_waits(k, column, &w);
    /* A program that hardly waited gets no finding. */
    if (w.total > 0 && w.total >= LEAST * (w.total + look_total_of(k, "oncpu"))) {
        say_longest(k, r, column, &w);
        say_structural(k, column, &w);
    }
    waits_release(&w);
}

/* ---- the lock ---- */

/* The sleeper's call: the frame before the first "--", which separates a sleeper and its waker. */
static uint32_t sleepers_call(const struct look *k, uint32_t node)
{
    uint32_t call = node;

    for (uint32_t i = node; i; i = k->t->nodes[i].parent) {
        if (is_separator(frametree_name(k->t, i)))
            call = k->t->nodes[i].parent;
    }
    return call;
}

/* Only the best of the columns that have stacks of sleepers gets the findings. */
static bool has_better(const struct look *k, uint32_t column)
{
    static const char *const order[] = {"chain", "offwake", "off"};

    for (size_t i = 0; i < ARRAY_LEN(order); i++) {
        uint32_t c = look_column(k, order[i]);

        if (c == column)
            return false;
        if (c != UINT32_MAX)
            return true;
    }
    return false;
}

static void say_lock(struct look *k, const struct rule *r, uint32_t column,
                     const struct waited_lock *lock)
{
    struct strbuf said = STRBUF_INIT, sb = STRBUF_INIT;
    struct inner *in = xcalloc(1, sizeof *in);

    strbuf_addf(&said, "%s ", r->says);
    waited_lock_say(&said, lock);
    if (lock->end.what) {
        strbuf_addstr(&said, "; behind that: ");
        waited_lock_say_end(&said, lock);
    }
    framename_add_clean(&sb, said.buf, said.len);
    inner_of(k, sleepers_call(k, (uint32_t)lock->stack), in);
    look_say(k, r->name, r->base, &sb, column, own_function(k, in));
    strbuf_release(&said);
    free(in);
}

void rule_lock(struct look *k, const struct rule *r, uint32_t column)
{
    struct tree_stacks s = {.stacks = {.next = next_of_tree,
                                       .frames = tree_frames,
                                       .again = tree_again,
                                       .nsleepers = k->t->n},
                            .t = k->t,
                            .own = look_own(k, column)};
    struct waited_memo *memo;
    struct waited_lock lock;

    if (has_better(k, column) || strcmp(k->o->columns[column].unit, "us") != 0)
        return;
    memo = xcalloc(1, sizeof *memo);
    s.ends = look_ends(k, column);
    s.sleeper = sleepers_of(k->t);
    lock = waited_lock_of(&s.stacks, memo);
    free(s.sleeper);
    free(memo);
    if (lock.stack_us && (double)lock.lock.us >= LOCK_LEAST * look_total(k, column))
        say_lock(k, r, column, &lock);
    waited_lock_release(&lock);
}

/* ---- wakers ---- */

/* Reports the waker of most waits. Stacks begin with the waker and end with the sleeper. A wait
 * that ended by itself has no waker. */
void rule_wakeup(struct look *k, const struct rule *r, uint32_t column)
{
    const struct look_ends *ends = look_ends(k, column);
    const double *own = look_own(k, column);
    uint32_t *to = xcalloc(k->t->n, sizeof *to);
    struct strbuf sb = STRBUF_INIT;
    struct owner o;

    /* Only the column's own stacks: a tree of many views has many more nodes. */
    for (size_t e = 0; e < ends->n; e++) {
        uint32_t i = ends->node[e];

        while (k->t->nodes[i].parent)
            i = k->t->nodes[i].parent;
        to[ends->node[e]] = *frametree_name(k->t, i)->s == '[' ? FRAMETREE_NONE : i;
    }
    if (owner_find(k, column, own, to, &o) && o.sum >= LEAST * look_total(k, column)) {
        look_add_function(k, &sb, o.node);
        strbuf_addf(&sb, " %s: ", r->says);
        look_add_part(k, &sb, column, o.sum, look_total(k, column));
        look_say(k, r->name, r->base, &sb, column, o.node);
    }
    free(to);
}

/* ---- processors ---- */

void rule_runq(struct look *k, const struct rule *r, uint32_t column)
{
    double total = look_total(k, column), ran = look_total_of(k, "oncpu"),
           all = total + ran + look_total_of(k, "off");
    struct strbuf sb = STRBUF_INIT;
    struct owner o;

    if (!(ran > 0) || total < RUNQ_LEAST * (total + ran) || total < LEAST * all ||
        !owner_find(k, column, look_own(k, column), NULL, &o))
        return;
    strbuf_addf(&sb, "%s ", r->says);
    look_add_amount(k, &sb, column, total);
    strbuf_addstr(&sb, " and ran ");
    look_add_amount(k, &sb, column, ran);
    strbuf_addstr(&sb, ": more was to be done than there were processors for");
    look_say(k, r->name, r->base, &sb, column, 0);
}
