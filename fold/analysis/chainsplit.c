/*
 * Problem: what did a thread wait for, if the thread that ended its wait had itself waited, run,
 * and waited again meanwhile?
 *
 * Algorithm: from the wake back to the begin of the wait, along the waker's line. The stretches
 * between its waits are shared out as the trace knows them. A wait of the waker's that a traced
 * thread ended is followed in the same way, within its own time, on that thread's line. Unlike the
 * critical path, which goes on from a waker and does not return, this returns to the waker where
 * its wait began, because only that part of the outer wait is the other thread's.
 *
 * A wake and the moment its sleeper could run again are some microseconds apart, so the waker may
 * be asleep again by then. It was awake when it woke the other: that time is the waker's own. If it
 * has been asleep for long, another thread has ended the wait.
 *
 * A thread that waits for work for long is ended by one that meanwhile had a million waits. So
 * blocks of a thread's waits are split once, into a tree of their own, and added as a whole. In
 * them only the threads of the block are known to be asleep.
 *
 * A thread cannot cause a part of its own wait. So a wait that a thread further down ended, which
 * only the clocks' differences can show, is not followed.
 *
 * Rejected: doing this in the tracer, with a list of each thread's last waits. Each wait that is
 * reported would be one row for each waker and each of its sleeps; ranges of the time would need
 * others; and the list has to be short.
 */
#include "fold/analysis/chainsplit.h"

#include <math.h>
#include <stdlib.h>

#include "common/alloc.h"
#include "common/hash.h"
#include "fold/analysis/offrow.h"
#include "fold/stacks/hashslots.h"

/* Waits of a thread that are split once for all waits of others that they lie in. */
#define BLOCK 128u

/* Threads of which one caused the wait of the other. */
#define FOLLOWED_MAX 64u

/* A waker that is asleep again so soon after the wake was awake when it woke the sleeper. */
#define LATE_NS 1000000u

/* Links of all rows together, as each has a share by its time; at least and at most that many of
 * one row; and those of a block. */
#define LINKS_MAX 50000u
#define ROW_LINKS_LEAST 4u
#define ROW_LINKS_MAX 512u
#define BLOCK_LINKS 256u

/* Steps along lines, of all waits together: some seconds. Waits after that are not split. */
#define STEPS_MAX 100000000ull

/* If no more than that is left of a row's time, it is from rounding. */
#define ROUNDING_NS 1000

/* Facts about one row. */
struct row_facts {
    bool by_thread; /* the waker is a thread */
    bool at_root;   /* its stack has no frames */
    uint32_t
        first; /* the first row of the same thread, stack and waker, which has the links of all */
    uint32_t room;    /* of that one: how many links it may have */
    uint64_t runq_ns; /* run-queue waits of its waits that are known one by one */
};

_Static_assert(FOLLOWED_MAX + 2 <= CHAINSPLIT_DEPTH_MAX, "links of a chain");

/* The time of a thread from the begin of a wait to that of the wait BLOCK later, split. */
struct block {
    uint32_t *link; /* of the block's tree, a link behind the one below it; the root is the first */
    size_t n;       /* 0: it is not split yet */
    bool begun;
};

struct chainsplit_table {
    struct hashslots slots;
    struct row_facts *row;
    struct block **block; /* by thread, by number; NULL: no block of the thread has been split */
    uint32_t *copy;       /* by link of a block, while it is added: the link it is added to */
    size_t copy_room;
};

/* The splitting of one wait. */
struct splitting {
    struct chainsplit *c;
    double scale;
    uint32_t thread[FOLLOWED_MAX]; /* the sleeper, its waker, and so on */
    unsigned nthreads;
    bool cut; /* the time that is followed ends within the wait, not with the wake */
};

/* ---- links ---- */

static uint32_t new_link(struct chainsplit *c, struct chainsplit_link link)
{
    GROW(c->link, c->n, c->room);
    c->link[c->n] = link;
    return (uint32_t)c->n++;
}

static uint32_t new_root(struct chainsplit *c, uint32_t id)
{
    return new_link(
        c, (struct chainsplit_link){.root = (uint32_t)c->n, .id = id, .kind = CHAINSPLIT_ROOT});
}

static uint32_t root_of(struct chainsplit *c, uint32_t row)
{
    uint32_t first = c->table->row[row].first;

    if (!c->of_row[first])
        c->of_row[first] = new_root(c, first);
    return c->of_row[row] = c->of_row[first];
}

static bool has_room(const struct chainsplit *c, uint32_t root)
{
    const struct chainsplit_link *l = &c->link[root];

    return l->n < (l->id == UINT32_MAX ? BLOCK_LINKS : c->table->row[l->id].room);
}

/* Finds the link; 0: it is not there yet. */
static uint32_t find(const struct chainsplit *c, uint32_t hash, uint32_t below,
                     enum chainsplit_kind kind, uint32_t id)
{
    const struct hashslots *s = &c->table->slots;
    uint32_t at;

    for (size_t i = hashslots_first(s, hash); hashslots_at(s, i, &at); i = hashslots_next(s, i)) {
        const struct chainsplit_link *l = &c->link[at];

        if (hashslots_may_be(s, i, hash) && l->below == below && l->id == id && l->kind == kind)
            return at;
    }
    return 0;
}

/* The link on `below`. Wakers that look the same are one link, and on what there is no room for
 * there are no further links. */
static uint32_t above(struct chainsplit *c, uint32_t below, enum chainsplit_kind kind, uint32_t id)
{
    uint64_t h = ((uint64_t)below << 32 | id) * HASH_GOLDEN ^ (uint64_t)kind * HASH_GOLDEN;
    uint32_t hash = (uint32_t)(h >> 32 ^ h), root = c->link[below].root, link;
    const struct chainsplit_link *l = &c->link[below];

    if (l->kind == CHAINSPLIT_MORE || (l->kind == kind && kind == CHAINSPLIT_WAKER && l->id == id))
        return below;
    link = find(c, hash, below, kind, id);
    if (link)
        return link;
    if (kind != CHAINSPLIT_MORE && (!has_room(c, root) || l->depth + 2u >= CHAINSPLIT_DEPTH_MAX))
        return above(c, below, CHAINSPLIT_MORE, 0);
    link = new_link(c, (struct chainsplit_link){.below = below,
                                                .root = root,
                                                .next = c->link[root].next,
                                                .id = id,
                                                .kind = (uint16_t)kind,
                                                .depth = (uint16_t)(c->link[below].depth + 1)});
    c->link[root].next = link;
    c->link[root].n++;
    hashslots_add(&c->table->slots, hash, link);
    return link;
}

static void add(struct splitting *s, uint32_t link, uint64_t ns)
{
    s->c->link[link].ns += (double)ns * s->scale;
}

/* The link of a sleep that is not followed. */
static uint32_t link_of_sleep(struct chainsplit *c, uint32_t below, uint32_t row)
{
    return above(c, below, CHAINSPLIT_SLEEP, c->same[row]);
}

/* ---- the time between waits ---- */

struct between {
    struct splitting *s;
    uint32_t link;
    uint64_t taken;
};

static void take_share(void *arg, uint32_t row, uint64_t ns, uint64_t runq_ns)
{
    struct between *b = arg;
    struct chainsplit *c = b->s->c;
    const struct trace_off_row *r = &trace_off_rows(c->lines->t)[row];
    uint32_t link = b->link;

    b->taken += ns;
    if (r->kind == TRACE_OFF_ONCPU) {
        if (runq_ns)
            add(b->s, above(c, link, CHAINSPLIT_RUNQ, 0), runq_ns);
        ns -= runq_ns;
        if (!ns)
            return;
    }
    /* Time on a CPU has a stack of its own where samples were taken. */
    if (r->kind != TRACE_OFF_ONCPU || !c->table->row[row].at_root)
        link = link_of_sleep(c, link, row);
    add(b->s, link, ns);
}

static void awake(struct splitting *s, uint32_t link, const struct thread_line *l, uint64_t begin,
                  uint64_t end)
{
    struct between b = {.s = s, .link = link};
    uint64_t whole = s->c->lines->whole_from_ns;

    if (begin < whole) {
        uint64_t until = whole < end ? whole : end;

        add(s, above(s->c, link, CHAINSPLIT_EARLIER, 0), until - begin);
        begin = until;
    }
    if (begin >= end)
        return;
    thread_line_share_out(l, begin, end, take_share, &b);
    if (!b.taken)
        add(s, link, end - begin);
}

/* ---- blocks ---- */

static void along(struct splitting *s, uint32_t link, uint32_t thread, uint64_t from, uint64_t to);

static void list_links(const struct chainsplit *c, uint32_t root, struct block *b)
{
    size_t n = 1, at;

    for (uint32_t i = c->link[root].next; i; i = c->link[i].next)
        n++;
    b->link = xcalloc(n, sizeof *b->link);
    at = n;
    for (uint32_t i = c->link[root].next; i; i = c->link[i].next)
        b->link[--at] = i;
    b->link[0] = root;
    b->n = n;
}

/* The block of that number; NULL: it is the one that is being split. */
static const struct block *block_of(struct chainsplit *c, uint32_t thread, size_t number)
{
    const struct thread_line *l = &c->lines->line[thread];
    struct splitting own = {.c = c, .scale = 1, .thread = {thread}, .nthreads = 1};
    struct block *b;
    uint32_t root;

    if (!c->table->block[thread])
        c->table->block[thread] = xcalloc(l->nwaits / BLOCK + 1, sizeof *b);
    b = &c->table->block[thread][number];
    if (b->n || b->begun)
        return b->n ? b : NULL;
    b->begun = true;
    root = new_root(c, UINT32_MAX);
    along(&own, root, thread, l->wait[number * BLOCK].begin, l->wait[(number + 1) * BLOCK].begin);
    list_links(c, root, b);
    return b;
}

static void add_block(struct splitting *s, uint32_t link, const struct block *b)
{
    struct chainsplit *c = s->c;
    struct chainsplit_table *t = c->table;

    for (size_t i = 0; i < b->n; i++) {
        const struct chainsplit_link one = c->link[b->link[i]];
        uint32_t to =
            i ? above(c, t->copy[one.below], (enum chainsplit_kind)one.kind, one.id) : link;

        GROW_FILLED(t->copy, b->link[i], t->copy_room, 0);
        t->copy[b->link[i]] = to;
        c->link[to].ns += one.ns * s->scale;
    }
}

/* The block that ends at the begin of the wait `next`, if it lies in [from, to) and ends at `to`.
 */
static const struct block *block_before(struct splitting *s, uint32_t thread, size_t next,
                                        uint64_t from, uint64_t to)
{
    const struct thread_line *l = &s->c->lines->line[thread];

    return next && next % BLOCK == 0 && next < l->nwaits && l->wait[next].begin == to &&
                   l->wait[next - BLOCK].begin >= from
               ? block_of(s->c, thread, next / BLOCK - 1)
               : NULL;
}

/* ---- a thread's line ---- */

static void follow(struct splitting *s, uint32_t link, uint32_t thread, uint64_t from, uint64_t to);

static bool can_follow(const struct splitting *s, uint32_t thread)
{
    if (s->nthreads == FOLLOWED_MAX || !threadlines_of(s->c->lines, thread))
        return false;
    for (unsigned i = 0; i < s->nthreads; i++)
        if (s->thread[i] == thread)
            return false;
    return true;
}

/* The time from which on the waker of a wait was asleep until after the wake: the end of the wait,
 * or an earlier time, if that is long before. */
static uint64_t waker_until(const struct chainsplit *c, const struct thread_wait *w)
{
    const struct thread_line *l = threadlines_of(c->lines, w->waker);
    const struct thread_wait *its = l ? thread_line_last_wait(l, w->woken) : NULL;

    return its && its != w && its->end > w->woken && w->woken - its->begin > LATE_NS ? its->begin
                                                                                     : w->woken;
}

/* Splits the part [from, to) of a wait of the waker's. */
static void asleep(struct splitting *s, uint32_t link, const struct thread_wait *w, uint64_t from,
                   uint64_t to)
{
    uint64_t woken = w->woken < from ? from : w->woken, until;
    const struct row_facts *f = &s->c->table->row[w->row];
    bool cut = s->cut;

    if (to > woken) {
        add(s, above(s->c, link, CHAINSPLIT_RUNQ, 0), to - woken);
        to = woken;
    }
    until = f->by_thread ? waker_until(s->c, w) : w->woken;
    if (to > until) {
        uint64_t known = until > from ? until : from;

        add(s, above(s->c, link, CHAINSPLIT_UNKNOWN, 0), to - known);
        to = known;
    }
    if (to <= from)
        return;
    if (f->by_thread && !threadlines_of(s->c->lines, w->waker)) {
        link = above(s->c, link, CHAINSPLIT_WAKER, s->c->waker[w->row]);
        add(s, above(s->c, link, CHAINSPLIT_EARLIER, 0), to - from);
    } else if (f->by_thread && (until == to || cut) && can_follow(s, w->waker)) {
        s->cut = until != to;
        follow(s, above(s->c, link, CHAINSPLIT_WAKER, s->c->waker[w->row]), w->waker, from, to);
        s->cut = cut;
    } else {
        add(s, link_of_sleep(s->c, link, w->row), to - from);
    }
}

/* Splits [from, to), before the thread was there. */
static void before_life(struct splitting *s, uint32_t link, const struct thread_line *l,
                        uint64_t from, uint64_t to)
{
    if (l->lived && can_follow(s, l->parent) && threadlines_of(s->c->lines, l->parent)->begin < to)
        follow(s, above(s->c, link, CHAINSPLIT_CREATOR, l->parent), l->parent, from, to);
    else
        add(s, above(s->c, link, CHAINSPLIT_EARLIER, 0), to - from);
}

static void along(struct splitting *s, uint32_t link, uint32_t thread, uint64_t from, uint64_t to)
{
    const struct thread_line *l = &s->c->lines->line[thread];
    const struct thread_wait *w = thread_line_last_wait(l, to);
    bool asleep_again = w && !s->cut && w->end > to && w->begin > from;

    if (asleep_again) {
        add(s, link, to - w->begin);
        to = w->begin;
    }
    for (; to > from; w = w > l->wait ? w - 1 : NULL) {
        size_t next = w ? (size_t)(w - l->wait) + 1 : 0;
        const struct block *block = block_before(s, thread, next, from, to);
        uint64_t end = w ? w->end : l->begin, begin;

        s->c->steps++;
        if (block) {
            add_block(s, link, block);
            w = &l->wait[next - BLOCK];
            to = w->begin;
            continue;
        }
        if (w && w->begin >= to)
            continue;
        if (end < from)
            end = from;
        if (end < to) {
            awake(s, link, l, end, to);
            to = end;
        }
        if (to <= from)
            return;
        if (!w) {
            before_life(s, link, l, from, to);
            return;
        }
        begin = w->begin > from ? w->begin : from;
        asleep(s, link, w, begin, to);
        to = begin;
    }
}

/* Splits [from, to) over what the thread did then; `link` is the thread's. */
static void follow(struct splitting *s, uint32_t link, uint32_t thread, uint64_t from, uint64_t to)
{
    const struct thread_line *l = threadlines_of(s->c->lines, thread);

    s->thread[s->nthreads++] = thread;
    if (to > l->end) { /* its end was the event that woke the sleeper */
        uint64_t end = l->end > from ? l->end : from;

        add(s, link, to - end);
        to = end;
    }
    if (to > from)
        along(s, link, thread, from, to);
    s->nthreads--;
}

/* ---- all waits ---- */

/* Splits the part [from, to) of a wait. */
static void split(struct chainsplit *c, uint32_t thread, const struct thread_wait *w, uint64_t from,
                  uint64_t to)
{
    const struct row_facts *f = &c->table->row[w->row];
    uint32_t waker = c->waker[w->row];
    uint64_t woken = w->woken < from ? from : w->woken < to ? w->woken : to;
    uint64_t until = f->by_thread ? waker_until(c, w) : w->woken;
    double length = (double)(w->woken - w->begin), blocked = length - (double)w->awake_ns;
    struct splitting s = {.c = c, .scale = 1, .nthreads = 1};
    uint32_t link = root_of(c, w->row);

    s.thread[0] = thread;
    if (to > woken) {
        add(&s, above(c, link, CHAINSPLIT_RUNQ, 0), to - woken);
        c->table->row[w->row].runq_ns += to - woken;
        c->known_ns[w->row] += (double)(to - woken);
    }
    if (length <= 0 || woken <= from) {
        s.scale = length <= 0 && blocked > 0 ? blocked : 0;
        c->known_ns[w->row] += s.scale;
        add(&s, waker ? above(c, link, CHAINSPLIT_WAKER, waker) : link, 1);
        return;
    }
    s.scale = blocked > 0 ? blocked / length : 0;
    c->known_ns[w->row] += (double)(woken - from) * s.scale;
    if (woken > until) {
        uint64_t known = until > from ? until : from;

        add(&s, above(c, link, CHAINSPLIT_UNKNOWN, 0), woken - known);
        woken = known;
    }
    s.cut = woken < until;
    if (waker)
        link = above(c, link, CHAINSPLIT_WAKER, waker);
    if (woken <= from)
        return;
    if (f->by_thread && can_follow(&s, w->waker))
        follow(&s, link, w->waker, from, woken);
    else if (f->by_thread && w->waker != thread)
        add(&s, above(c, link, CHAINSPLIT_EARLIER, 0), woken - from);
    else
        add(&s, link, woken - from);
}

static void split_clipped(struct chainsplit *c, uint32_t thread, const struct thread_wait *w)
{
    const struct trace_clip *clip = c->lines->t->clip ? &c->lines->t->clip[thread] : NULL;

    if (!clip) {
        split(c, thread, w, w->begin, w->end);
        return;
    }
    for (size_t i = 0; i < clip->n; i++) {
        uint64_t from = clip->part[i].begin_ns > w->begin ? clip->part[i].begin_ns : w->begin,
                 to = clip->part[i].end_ns < w->end ? clip->part[i].end_ns : w->end;

        if (from < to)
            split(c, thread, w, from, to);
    }
}

/* The nodes, or the rows, of which each is the first that looks as it does, by three numbers. */
struct alike {
    struct hashslots slots;
    struct alike_one {
        uint32_t a, b, c, id;
    } * list;
    size_t n, room;
};

/* The first one that looks so; `id` itself, if there is none yet. */
static uint32_t first_alike(struct alike *k, uint32_t a, uint32_t b, uint32_t c, uint32_t id)
{
    uint64_t h = (((uint64_t)a << 32 | b) * HASH_GOLDEN ^ c) * HASH_GOLDEN;
    uint32_t hash = (uint32_t)(h >> 32 ^ h), at;

    for (size_t i = hashslots_first(&k->slots, hash); hashslots_at(&k->slots, i, &at);
         i = hashslots_next(&k->slots, i))
        if (hashslots_may_be(&k->slots, i, hash) && k->list[at].a == a && k->list[at].b == b &&
            k->list[at].c == c)
            return k->list[at].id;
    GROW(k->list, k->n, k->room);
    k->list[k->n] = (struct alike_one){a, b, c, id};
    hashslots_add(&k->slots, hash, (uint32_t)k->n++);
    return id;
}

static void alike_release(struct alike *k)
{
    hashslots_release(&k->slots);
    free(k->list);
}

static void learn_rows(struct chainsplit *c, const uint32_t *looks)
{
    const struct trace *t = c->lines->t;
    size_t rows = (size_t)t->row_limit + 1;
    struct alike nodes = {.list = NULL}, alike = {.list = NULL};

    hashslots_init(&nodes.slots, 1024);
    hashslots_init(&alike.slots, 1024);
    c->table->row = xcalloc(rows, sizeof *c->table->row);
    c->waker = xcalloc(rows, sizeof *c->waker);
    c->same = xcalloc(rows, sizeof *c->same);
    for (uint32_t id = 0; id < t->row_limit; id++) {
        struct row_facts *row = &c->table->row[id];
        uint32_t waker, sleeper;

        if (!trace_row_used(&t->rows[id]))
            continue;
        sleeper = off_sleeper(t, t->rows[id].node, &waker);
        row->at_root = t->nodes[sleeper].kind == TRACE_NODE_ROOT;
        row->by_thread =
            waker && trace_off_thread_at(t, (uint32_t)trace_node_root(t, waker)->addr) != NULL;
        c->waker[id] = waker ? first_alike(&nodes, looks ? looks[waker] : waker, 0, 0, waker) : 0;
        c->same[id] = first_alike(&alike, looks ? looks[sleeper] : sleeper,
                                  row->by_thread ? 0 : c->waker[id], 0, id);
    }
    alike_release(&nodes);
    alike_release(&alike);
}

/* Finds the rows that share links, and shares out the room by their time. */
static void group_rows(struct chainsplit *c)
{
    const struct trace *t = c->lines->t;
    const struct trace_off_row *rows = trace_off_rows(t);
    double *ns = xcalloc((size_t)t->row_limit + 1, sizeof *ns), all = 1;
    struct alike groups = {.list = NULL};

    hashslots_init(&groups.slots, 1024);
    for (uint32_t id = 0; rows && id < t->row_limit; id++) {
        struct row_facts *row = &c->table->row[id];

        row->first = id;
        if (!trace_row_used(&t->rows[id]) || !off_row_waits(&t->rows[id]))
            continue;
        row->first = first_alike(&groups, c->same[id], c->waker[id],
                                 (uint32_t)rows[id].kind << 16 | rows[id].thread, id);
        ns[row->first] += (double)(rows[id].blocked_ns + rows[id].runq_ns);
        all += (double)(rows[id].blocked_ns + rows[id].runq_ns);
    }
    for (uint32_t id = 0; id < t->row_limit; id++) {
        double room = ROW_LINKS_LEAST + LINKS_MAX * (ns[id] / all);

        c->table->row[id].room = room < ROW_LINKS_MAX ? (uint32_t)room : ROW_LINKS_MAX;
    }
    alike_release(&groups);
    free(ns);
}

/* Adds the run-queue waits of sleeps that are known as sums only. */
static void add_run_queues(struct chainsplit *c)
{
    const struct trace *t = c->lines->t;

    for (uint32_t id = 0; id < t->row_limit; id++) {
        const struct trace_off_row *row = &trace_off_rows(t)[id];
        uint64_t known = c->table->row[id].runq_ns;
        uint32_t link;

        if (!trace_row_used(&t->rows[id]) || !off_row_waits(&t->rows[id]) || row->runq_ns <= known)
            continue;
        link = above(c, root_of(c, id), CHAINSPLIT_RUNQ, 0);
        c->link[link].ns += (double)(row->runq_ns - known);
        c->known_ns[id] += (double)(row->runq_ns - known);
    }
}

struct chainsplit *chainsplit_new(const struct threadlines *lines, const uint32_t *looks)
{
    struct chainsplit *c = xcalloc(1, sizeof *c);
    const struct trace *t = lines->t;

    c->lines = lines;
    c->of_row = xcalloc((size_t)t->row_limit + 1, sizeof *c->of_row);
    c->table = xcalloc(1, sizeof *c->table);
    c->table->block = xcalloc((size_t)t->thread_limit + 1, sizeof(struct block *));
    hashslots_init(&c->table->slots, 1024);
    new_link(c, (struct chainsplit_link){.id = 0});
    c->known_ns = xcalloc((size_t)t->row_limit + 1, sizeof *c->known_ns);
    learn_rows(c, looks);
    group_rows(c);
    for (uint32_t id = 0; id < t->thread_limit; id++)
        for (size_t i = 0; i < lines->line[id].nwaits; i++) {
            if (c->steps < STEPS_MAX)
                split_clipped(c, id, &lines->line[id].wait[i]);
            else
                c->unsplit++;
        }
    if (t->header.recorder == TRACE_RECORDER_OFF)
        add_run_queues(c);
    return c;
}

static void free_blocks(struct chainsplit *c, uint32_t thread)
{
    struct block *b = c->table->block[thread];

    for (size_t i = 0; b && i < c->lines->line[thread].nwaits / BLOCK; i++)
        free(b[i].link);
    free(b);
}

void chainsplit_free(struct chainsplit *c)
{
    if (!c)
        return;
    for (uint32_t id = 0; id < c->lines->t->thread_limit; id++)
        free_blocks(c, id);
    hashslots_release(&c->table->slots);
    free(c->table->block);
    free(c->table->copy);
    free(c->table->row);
    free(c->table);
    free(c->of_row);
    free(c->waker);
    free(c->same);
    free(c->known_ns);
    free(c->link);
    free(c);
}

/* ---- results ---- */

int64_t chainsplit_rest(const struct chainsplit *c, uint32_t row, int64_t value)
{
    int64_t rest = value - llround(c->known_ns[row]);

    return c->of_row[row] && rest <= ROUNDING_NS ? 0 : rest;
}

uint32_t chainsplit_first(const struct chainsplit *c, uint32_t row)
{
    return c->table->row[row].first;
}

bool chainsplit_at_root(const struct chainsplit *c, uint32_t row)
{
    return c->table->row[row].at_root;
}

void chainsplit_links(const struct chainsplit *c, uint32_t first, int64_t value,
                      chainsplit_sink take, void *arg)
{
    double sum = 0, at = 0;
    int64_t given = 0;

    for (uint32_t i = c->of_row[first]; i; i = c->link[i].next)
        sum += c->link[i].ns;
    for (uint32_t i = c->of_row[first]; i; i = c->link[i].next) {
        int64_t ns;

        at += c->link[i].ns;
        ns = (sum > 0 ? llround((double)value * (at / sum)) : 0) - given;
        given += ns;
        if (ns)
            take(arg, i, ns);
    }
    if (given < value && c->of_row[first])
        take(arg, c->of_row[first], value - given);
}
