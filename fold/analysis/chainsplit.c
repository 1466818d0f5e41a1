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
 * be asleep again by then. It was awake when it woke the other: that time is the waker's own.
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
#define FOLLOWED_MAX 16u

/* Steps along lines, of all waits together: some seconds. Waits after that are not split. */
#define STEPS_MAX 100000000ull

/* If no more than that is left of a row's time, it is from rounding. */
#define ROUNDING_NS 1000

/* Facts about one row. */
struct row_facts {
    uint32_t sleeper; /* node of its stack */
    uint32_t waker;   /* node of its waker's stack; 0: none is known */
    bool by_thread;   /* the waker is a thread */
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
    if (!c->of_row[row])
        c->of_row[row] = new_root(c, row);
    return c->of_row[row];
}

static uint32_t above(struct chainsplit *c, uint32_t below, enum chainsplit_kind kind, uint32_t id)
{
    uint64_t h = ((uint64_t)below << 32 | id) * HASH_GOLDEN ^ (uint64_t)kind * HASH_GOLDEN;
    uint32_t hash = (uint32_t)(h >> 32 ^ h), at, root, link;
    struct hashslots *s = &c->table->slots;

    for (size_t i = hashslots_first(s, hash); hashslots_at(s, i, &at); i = hashslots_next(s, i)) {
        const struct chainsplit_link *l = &c->link[at];

        if (hashslots_may_be(s, i, hash) && l->below == below && l->id == id && l->kind == kind)
            return at;
    }
    root = c->link[below].root;
    link = new_link(c, (struct chainsplit_link){.below = below,
                                                .root = root,
                                                .next = c->link[root].next,
                                                .id = id,
                                                .kind = (uint16_t)kind,
                                                .depth = (uint16_t)(c->link[below].depth + 1)});
    c->link[root].next = link;
    hashslots_add(s, hash, link);
    return link;
}

static void add(struct splitting *s, uint32_t link, uint64_t ns)
{
    s->c->link[link].ns += (double)ns * s->scale;
}

/* The link of a sleep that is not followed: its waker, or the sleep itself. */
static uint32_t link_of_row(struct chainsplit *c, uint32_t below, uint32_t row)
{
    const struct row_facts *f = &c->table->row[row];

    return f->by_thread ? above(c, below, CHAINSPLIT_WAKER, f->waker)
                        : above(c, below, CHAINSPLIT_SLEEP, row);
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
    if (r->kind != TRACE_OFF_ONCPU ||
        c->lines->t->nodes[c->table->row[row].sleeper].kind != TRACE_NODE_ROOT)
        link = link_of_row(c, link, row);
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
        uint32_t to = link;

        if (i > 0) {
            to = t->copy[one.below];
            if (c->link[to].depth + 1 < CHAINSPLIT_DEPTH_MAX)
                to = above(c, to, (enum chainsplit_kind)one.kind, one.id);
        }
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

/* Splits the part [from, to) of a wait of the waker's. */
static void asleep(struct splitting *s, uint32_t link, const struct thread_wait *w, uint64_t from,
                   uint64_t to)
{
    uint64_t woken = w->woken < from ? from : w->woken;
    const struct row_facts *f = &s->c->table->row[w->row];
    bool cut = s->cut;

    if (to > woken) {
        add(s, above(s->c, link, CHAINSPLIT_RUNQ, 0), to - woken);
        to = woken;
    }
    if (to <= from)
        return;
    if (f->by_thread && (w->woken == to || cut) && can_follow(s, w->waker)) {
        s->cut = w->woken != to;
        follow(s, above(s->c, link, CHAINSPLIT_WAKER, f->waker), w->waker, from, to);
        s->cut = cut;
    } else {
        add(s, link_of_row(s->c, link, w->row), to - from);
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

/* Splits the part [from, to) of a wait, of which that part is `ns` asleep. */
static void split(struct chainsplit *c, uint32_t thread, const struct thread_wait *w, uint64_t from,
                  uint64_t to)
{
    const struct row_facts *f = &c->table->row[w->row];
    uint64_t woken = w->woken < from ? from : w->woken < to ? w->woken : to;
    double length = (double)(w->woken - w->begin), blocked = length - (double)w->awake_ns;
    struct splitting s = {.c = c, .scale = 1, .cut = to < w->woken, .nthreads = 1};
    uint32_t link = root_of(c, w->row);

    s.thread[0] = thread;
    if (to > woken)
        add(&s, above(c, link, CHAINSPLIT_RUNQ, 0), to - woken);
    if (length <= 0 || woken <= from) {
        s.scale = length <= 0 && blocked > 0 ? blocked : 0;
        add(&s, f->waker ? above(c, link, CHAINSPLIT_WAKER, f->waker) : link, 1);
        return;
    }
    s.scale = blocked > 0 ? blocked / length : 0;
    if (f->waker)
        link = above(c, link, CHAINSPLIT_WAKER, f->waker);
    if (f->by_thread && can_follow(&s, w->waker))
        follow(&s, link, w->waker, from, woken);
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

static void learn_rows(struct chainsplit *c)
{
    const struct trace *t = c->lines->t;
    struct row_facts *row = xcalloc((size_t)t->row_limit + 1, sizeof *row);

    for (uint32_t id = 0; id < t->row_limit; id++) {
        if (!trace_row_used(&t->rows[id]))
            continue;
        row[id].sleeper = off_sleeper(t, t->rows[id].node, &row[id].waker);
        row[id].by_thread =
            row[id].waker &&
            trace_off_thread_at(t, (uint32_t)trace_node_root(t, row[id].waker)->addr);
    }
    c->table->row = row;
}

struct chainsplit *chainsplit_new(const struct threadlines *lines)
{
    struct chainsplit *c = xcalloc(1, sizeof *c);
    const struct trace *t = lines->t;

    c->lines = lines;
    c->of_row = xcalloc((size_t)t->row_limit + 1, sizeof *c->of_row);
    c->table = xcalloc(1, sizeof *c->table);
    c->table->block = xcalloc((size_t)t->thread_limit + 1, sizeof(struct block *));
    hashslots_init(&c->table->slots, 1024);
    new_link(c, (struct chainsplit_link){.id = 0});
    learn_rows(c);
    for (uint32_t id = 0; id < t->thread_limit; id++)
        for (size_t i = 0; i < lines->line[id].nwaits; i++) {
            if (c->steps < STEPS_MAX)
                split_clipped(c, id, &lines->line[id].wait[i]);
            else
                c->unsplit++;
        }
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
    free(c->link);
    free(c);
}

/* ---- results ---- */

int64_t chainsplit_of_row(const struct chainsplit *c, uint32_t row, int64_t value,
                          chainsplit_sink take, void *arg)
{
    double sum = 0, scale = 1, at = 0;
    int64_t given = 0;
    uint32_t root = c->of_row[row];

    for (uint32_t i = c->of_row[row]; i; i = c->link[i].next)
        sum += c->link[i].ns;
    if (sum > (double)value && sum > 0)
        scale = (double)value / sum;
    for (uint32_t i = c->of_row[row]; i; i = c->link[i].next) {
        int64_t ns;

        at += c->link[i].ns * scale;
        ns = llround(at) - given;
        given += ns;
        if (ns)
            take(arg, i, ns);
    }
    if (root && value > given && value - given <= ROUNDING_NS) {
        take(arg, root, value - given);
        given = value;
    }
    return value - given;
}
