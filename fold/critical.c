/*
 * The first walk finds the rows of the path, and the things for which threads on it waited. Then
 * there is one walk for each of these things, in which waiting for it takes no time: the time
 * that such a walk skips is the most that could be gained. No other walk meets a thing that the
 * first one does not meet, so that thing would gain nothing.
 *
 * What-if rules are matched here, against the names that the view has; whatif.h has the bounds.
 */
#include "fold/critical.h"

#include <inttypes.h>
#include <stdlib.h>

#include "common/alloc.h"
#include "common/error.h"
#include "fold/analysis/critpath.h"
#include "fold/analysis/offrow.h"
#include "fold/analysis/regiontimes.h"
#include "fold/analysis/whatif.h"
#include "fold/nodestacks.h"

#define THINGS_TRIED 64u    /* walks; things with most time on the path come first */
#define THINGS_REPORTED 16u /* in comments */
#define THREADS_REPORTED 16u
#define STEPS_TRIED 50000000ull /* of all walks together */
#define PIECES_MAX 65536u       /* for lanes: if there are more, the shortest are left out */
#define PIECES_SHORT_NS 1000u

/* A thing that threads wait for: all waits with one name. */
struct thing {
    uint32_t frame, kind; /* enum trace_off_kind of the row that was met first */
    uint64_t waits;       /* on the path */
    uint64_t by_ns;       /* their total time */
    uint64_t own_ns;      /* of it, the time that is a part of the path */
    uint64_t gain_ns;
    bool tried;
};

struct path {
    const struct trace *t;
    struct symbolizer *frames;
    struct threadlines *lines;
    struct critpath *walker;
    struct critpath_range range;   /* the first one */
    struct critpath_range *ranges; /* the ranges whose paths are added up: one, or one for each
                                      region */
    size_t nranges;
    bool of_regions;
    bool of_run;        /* it is the path of all of the run */
    uint64_t length_ns; /* of all of them */
    int64_t *ns;        /* by row */
    uint32_t *on_cpu;   /* by thread: a row of time on a CPU; 0: none */
    uint64_t *of;       /* by thread: time on the path */
    uint64_t ran_ns, waited_ns, woken_ns, other_ns, short_ns, unknown_ns, nowhere_ns;
    uint64_t steps, handed, nthreads;
    struct critical_piece *piece; /* the latest first */
    size_t npieces, pieces_room;
    uint64_t piece_short_ns;
    /* Numbers of things plus one; 0: none yet. */
    uint32_t *thing_of_row, *thing_of_frame;
    size_t frames_room;
    struct thing *thing;
    size_t nthings, things_room, tried;
    uint32_t free_thing; /* in a walk without a thing: that thing's number plus one */
    uint64_t short_gain; /* the sum of short waits for it */
    const struct whatif_rules *rules;
    /* Results of each rule, and then of all together if there are several. */
    struct whatif_result *what_if;
    size_t nwhat_if;
};

struct critical {
    struct path *path;
    size_t n;
};

static const struct critical *in_use;

bool critical_has(const struct trace *t)
{
    return critpath_is_known(t);
}

/* ---- things ---- */

/* Whether a futex wait ended because a thread ended: such a wait is a join. */
static bool is_join(const struct trace *t, uint32_t row, uint32_t waker)
{
    const struct trace_node *n = &t->nodes[waker];
    struct trace_string name;

    if (off_row(&t->rows[row])->kind != TRACE_OFF_LOCK || !waker || n->kind != TRACE_NODE_NAME)
        return false;
    name = trace_node_name(t, n);
    return name.len == 4 && memcmp(name.s, "exit", 4) == 0;
}

uint32_t critical_frame(const struct trace *t, struct symbolizer *frames, uint32_t row)
{
    static const char unknown[] = "[unknown]", join[] = "[end of a thread]";
    struct aggregate *to = symbolizer_aggregate(frames);
    uint32_t waker, id = off_sleeper(t, t->rows[row].node, &waker);
    const struct trace_node *n = &t->nodes[id];
    struct trace_string name;

    if (is_join(t, row, waker))
        return aggregate_frame(to, join, sizeof join - 1);
    if (n->kind == TRACE_NODE_FUTEX)
        return symbolizer_futex(frames, n->addr, trace_node_root(t, id));
    if (n->kind != TRACE_NODE_NAME)
        return aggregate_frame(to, unknown, sizeof unknown - 1);
    name = trace_node_name(t, n);
    return aggregate_frame(to, name.s, name.len);
}

/* The number of the thing that the row waited for, plus one. */
static uint32_t thing_of(struct path *p, uint32_t row)
{
    uint32_t frame, *number;

    if (p->thing_of_row[row])
        return p->thing_of_row[row];
    frame = critical_frame(p->t, p->frames, row);
    GROW_FILLED(p->thing_of_frame, frame, p->frames_room, 0);
    number = &p->thing_of_frame[frame];
    if (!*number) {
        GROW(p->thing, p->nthings, p->things_room);
        p->thing[p->nthings++] =
            (struct thing){.frame = frame, .kind = off_row(&p->t->rows[row])->kind};
        *number = (uint32_t)p->nthings;
    }
    return p->thing_of_row[row] = *number;
}

/* Counts a wait; `own` of its time is a part of the path. */
static void met(struct path *p, uint32_t row, uint64_t ns, uint64_t own)
{
    uint32_t number = thing_of(p, row);

    p->thing[number - 1].waits++;
    p->thing[number - 1].by_ns += ns;
    p->thing[number - 1].own_ns += own;
}

/* ---- the path ---- */

static void add_row(struct path *p, uint32_t row, uint64_t ns)
{
    p->ns[row] += (int64_t)ns;
}

static void take_share(void *arg, uint32_t row, uint64_t ns, uint64_t runq_ns)
{
    struct path *p = arg;

    add_row(p, row, ns);
    p->nowhere_ns -= ns;
    if (off_row(&p->t->rows[row])->kind == TRACE_OFF_ONCPU) {
        p->ran_ns += ns - runq_ns;
        p->woken_ns += runq_ns;
    } else if (off_row_waits(&p->t->rows[row])) {
        p->short_ns += ns;
        met(p, row, ns, ns);
    } else {
        p->other_ns += ns;
    }
}

static void take_ran(struct path *p, const struct critpath_step *s)
{
    uint64_t ns = s->end_ns - s->begin_ns, before = p->nowhere_ns;
    uint32_t row = p->on_cpu[s->thread];

    p->nowhere_ns += ns;
    critpath_share_out(p->walker, s, take_share, p);
    if (p->nowhere_ns == before + ns && row)
        take_share(p, row, ns, 0);
}

static void drop_short_pieces(struct path *p)
{
    size_t kept = 0;

    p->piece_short_ns = p->piece_short_ns ? p->piece_short_ns * 4 : PIECES_SHORT_NS;
    for (size_t i = 0; i < p->npieces; i++)
        if (p->piece[i].end_ns - p->piece[i].begin_ns >= p->piece_short_ns)
            p->piece[kept++] = p->piece[i];
    p->npieces = kept;
}

/* Adds a step to the pieces. Adjoining steps of one thread are one piece. */
static void add_piece(struct path *p, const struct critpath_step *s)
{
    struct critical_piece *last = p->npieces ? &p->piece[p->npieces - 1] : NULL;

    if (s->end_ns == s->begin_ns)
        return;
    if (last && last->thread == s->thread && last->begin_ns == s->end_ns) {
        last->begin_ns = s->begin_ns;
        return;
    }
    if (last && last->end_ns - last->begin_ns < p->piece_short_ns)
        p->npieces--;
    while (p->npieces >= PIECES_MAX)
        drop_short_pieces(p);
    GROW(p->piece, p->npieces, p->pieces_room);
    p->piece[p->npieces++] = (struct critical_piece){s->thread, s->begin_ns, s->end_ns};
}

static void take_step(void *arg, const struct critpath_step *s)
{
    struct path *p = arg;
    uint64_t ns = s->end_ns - s->begin_ns;

    p->steps++;
    if (s->kind == CRITPATH_HANDED) {
        p->handed++;
        met(p, s->row, ns, 0);
        return;
    }
    if (s->kind == CRITPATH_UNKNOWN) {
        p->unknown_ns += ns;
        return;
    }
    add_piece(p, s);
    p->nthreads += ns && !p->of[s->thread];
    p->of[s->thread] += ns;
    if (s->kind == CRITPATH_RAN) {
        take_ran(p, s);
    } else if (s->kind == CRITPATH_WOKEN) {
        p->woken_ns += ns;
        add_row(p, p->on_cpu[s->thread] ? p->on_cpu[s->thread] : s->row, ns);
    } else if (s->kind == CRITPATH_WAITED) {
        p->waited_ns += ns;
        add_row(p, s->row, ns);
        met(p, s->row, ns, ns);
    }
}

/* ---- walks without a thing ---- */

static void take_short(void *arg, uint32_t row, uint64_t ns, uint64_t runq_ns)
{
    struct path *p = arg;

    (void)runq_ns;
    if (p->thing_of_row[row] == p->free_thing)
        p->short_gain += ns;
}

static void try_step(void *arg, const struct critpath_step *s)
{
    struct path *p = arg;

    p->steps++;
    if (s->kind == CRITPATH_RAN && critpath_has_sums(p->walker))
        critpath_share_out(p->walker, s, take_short, p);
}

static int by_time(const void *pa, const void *pb)
{
    const struct thing *a = pa, *b = pb;

    if (a->by_ns != b->by_ns)
        return a->by_ns < b->by_ns ? 1 : -1;
    return (a->frame > b->frame) - (a->frame < b->frame);
}

static int by_gain(const void *pa, const void *pb)
{
    const struct thing *a = pa, *b = pb;

    if (a->gain_ns != b->gain_ns)
        return a->gain_ns < b->gain_ns ? 1 : -1;
    return by_time(pa, pb);
}

/* Sorts things by time, and gives every row of a wait its thing. This includes rows off the
 * path, as a walk without a thing may go by other rows. */
static void sort_things(struct path *p)
{
    size_t n = p->nthings;

    if (n)
        qsort(p->thing, n, sizeof *p->thing, by_time);
    for (size_t i = 0; i < n; i++)
        p->thing_of_frame[p->thing[i].frame] = (uint32_t)i + 1;
    memset(p->thing_of_row, 0, p->t->row_limit * sizeof *p->thing_of_row);
    for (uint32_t id = 0; id < p->t->row_limit; id++)
        if (trace_row_used(&p->t->rows[id]) && off_row_waits(&p->t->rows[id]))
            thing_of(p, id);
    p->nthings = n;
}

static void try_things(struct path *p)
{
    size_t n = p->nthings < THINGS_TRIED ? p->nthings : THINGS_TRIED;

    sort_things(p);
    p->steps = 0;
    for (; p->tried < n && p->steps < STEPS_TRIED; p->tried++) {
        struct thing *thing = &p->thing[p->tried];

        p->free_thing = (uint32_t)p->tried + 1;
        p->short_gain = 0;
        thing->gain_ns = 0;
        for (size_t i = 0; i < p->nranges; i++)
            thing->gain_ns += critpath_walk(p->walker, &p->ranges[i], p->thing_of_row,
                                            p->free_thing, try_step, p);
        thing->gain_ns += p->short_gain;
        thing->tried = true;
    }
    if (p->nthings)
        qsort(p->thing, p->nthings, sizeof *p->thing, by_gain);
}

/* ---- what if ---- */

static int64_t is_wait(const struct trace *t, const struct trace_row *row)
{
    (void)t;
    return off_row_waits(row);
}

static bool rule_matches(void *rule, const char *text, size_t len)
{
    return whatif_matches(rule, text, len);
}

/* By row, the stack of its waits in the aggregate; 0: none. */
static uint32_t *stacks_of_rows(const struct path *p)
{
    static const struct view waits = {
        .recorder = TRACE_RECORDER_OFF, .shape = VIEW_STACK, .value = is_wait};
    struct filter_report left_out = FILTER_REPORT_INIT;
    struct row_values items = row_values_of_rows(
        p->t, &(struct row_value_options){.view = &waits, .left_out = &left_out});
    uint32_t *of = xcalloc((size_t)p->t->row_limit + 1, sizeof *of);
    struct nodestack_options no = {.shape = VIEW_STACK};

    no.stacks = xcalloc(items.n + 1, sizeof *no.stacks);
    nodestacks_add(p->t, p->frames, &items, &no);
    for (size_t i = 0; i < items.n; i++)
        of[items.item[i].value] = no.stacks[i];
    free(no.stacks);
    free(items.item);
    filter_report_release(&left_out);
    return of;
}

/* Whether the rule selects waits of the row, by their stack's text or by the thing. Its frames are
 * known not to match. */
static bool selects(const struct path *p, const struct whatif_rule *rule, uint32_t row,
                    uint32_t stack, struct strbuf *text)
{
    struct aggregate *names = symbolizer_aggregate(p->frames);
    const char *thing;
    size_t len;

    strbuf_clear(text);
    aggregate_add_stack(names, stack, text);
    if (whatif_matches(rule, text->buf, text->len))
        return true;
    thing = aggregate_frame_text(names, critical_frame(p->t, p->frames, row), &len);
    return whatif_matches(rule, thing, len);
}

/* Sets what the rule leaves of each wait, by row, unless an earlier rule has selected it. */
static void apply_rule(struct path *p, struct whatif_rule *rule, const uint32_t *stack,
                       double *part)
{
    bool *has = aggregate_matching(symbolizer_aggregate(p->frames), rule_matches, rule);
    struct strbuf text = STRBUF_INIT;

    for (uint32_t id = 0; id < p->t->row_limit; id++)
        if (stack[id] && part[id] > 1 && (has[stack[id]] || selects(p, rule, id, stack[id], &text)))
            part[id] = rule->part;
    strbuf_release(&text);
    free(has);
}

/* Tries rules [first, end) together. */
static void try_rules(struct path *p, size_t first, size_t end, const uint32_t *stack)
{
    const struct whatif_paths paths = {
        .t = p->t, .walker = p->walker, .ranges = p->ranges, .n = p->nranges, .whole = p->of_run};
    double *part = xcalloc((size_t)p->t->row_limit + 1, sizeof *part);

    for (uint32_t id = 0; id < p->t->row_limit; id++)
        part[id] = WHATIF_NOT_SELECTED;
    for (size_t i = first; i < end; i++)
        apply_rule(p, &p->rules->rule[i], stack, part);
    whatif_try(&paths, part, &p->what_if[p->nwhat_if++]);
    free(part);
}

static void try_what_if(struct path *p)
{
    size_t n = p->rules ? p->rules->n : 0;
    uint32_t *stack;

    if (!n)
        return;
    stack = stacks_of_rows(p);
    p->what_if = xcalloc(n + 1, sizeof *p->what_if);
    for (size_t i = 0; i < n; i++)
        try_rules(p, i, i + 1, stack);
    if (n > 1) {
        try_rules(p, 0, n, stack);
        /* All of them shorten what the first one does, and more. Both are bounds, from walks that
         * may go other ways, so the greater one holds for all. */
        if (p->what_if[n].gain_ns < p->what_if[0].gain_ns)
            p->what_if[n].gain_ns = p->what_if[0].gain_ns;
    }
    free(stack);
}

/* ---- all traces ---- */

static void note_on_cpu(struct path *p)
{
    for (uint32_t id = 0; id < p->t->row_limit; id++) {
        const struct trace_off_row *row = off_row(&p->t->rows[id]);

        if (trace_row_used(&p->t->rows[id]) && row->kind == TRACE_OFF_ONCPU &&
            row->thread < p->t->thread_limit && !p->on_cpu[row->thread])
            p->on_cpu[row->thread] = id;
    }
}

static void add_range(struct path *p, struct critpath_range range)
{
    if (!critpath_settle(p->walker, &range))
        return;
    p->ranges = xreallocarray(p->ranges, p->nranges + 1, sizeof *p->ranges);
    p->ranges[p->nranges++] = range;
    p->length_ns += range.to_ns - range.from_ns;
}

/* Adds the ranges of all regions with that name, the last first, so that the pieces' order is
 * nearly that of a single path. */
static void add_regions(struct path *p, const char *name)
{
    struct region_span *list;
    size_t n = regiontimes_get(p->t, name, &list);

    p->ranges = xcalloc(n + 1, sizeof *p->ranges);
    for (size_t i = n; i-- > 0;) {
        struct critpath_range range = {
            .thread = list[i].thread, .from_ns = list[i].begin_ns, .to_ns = list[i].end_ns};

        if (!critpath_settle(p->walker, &range))
            continue;
        p->ranges[p->nranges++] = range;
        p->length_ns += range.to_ns - range.from_ns;
    }
    free(list);
}

static int piece_by_end(const void *pa, const void *pb)
{
    const struct critical_piece *a = pa, *b = pb;

    if (a->end_ns != b->end_ns)
        return a->end_ns < b->end_ns ? 1 : -1;
    return (a->begin_ns < b->begin_ns) - (a->begin_ns > b->begin_ns);
}

/* Makes the pieces of several regions disjoint. Paths of regions may overlap: lanes show the
 * later one. */
static void order_pieces(struct path *p)
{
    size_t kept = 0;

    if (p->nranges < 2 || !p->npieces)
        return;
    qsort(p->piece, p->npieces, sizeof *p->piece, piece_by_end);
    for (size_t i = 0; i < p->npieces; i++) {
        struct critical_piece one = p->piece[i];

        if (kept && one.end_ns > p->piece[kept - 1].begin_ns)
            one.end_ns = p->piece[kept - 1].begin_ns;
        if (one.end_ns > one.begin_ns)
            p->piece[kept++] = one;
    }
    p->npieces = kept;
}

/* Finds the ranges to walk. False: the trace has no such thread, or no records in the range. */
static bool find_ranges(struct path *p, const struct fold_when *when)
{
    uint64_t zero = p->t->time_zero_ns;

    p->range = (struct critpath_range){.to_ns = UINT64_MAX};
    if (when && when->from.given)
        p->range.from_ns = zero + when->from.asked_ns;
    if (when && when->to.given)
        p->range.to_ns = zero + when->to.asked_ns;
    if (when && when->ends_in) {
        p->range.thread = critpath_thread(p->walker, when->ends_in);
        if (!p->range.thread)
            return false;
    }
    p->of_regions = when && when->region;
    if (p->of_regions)
        add_regions(p, when->region);
    else
        add_range(p, p->range);
    if (!p->nranges)
        return false;
    p->range = p->ranges[p->nranges - 1];
    p->of_run = !when || (!fold_when_given(when) && !when->region);
    p->rules = when ? when->what_if : NULL;
    return true;
}

static void make_tables(struct path *p)
{
    p->ns = xcalloc((size_t)p->t->row_limit + 1, sizeof *p->ns);
    p->thing_of_row = xcalloc((size_t)p->t->row_limit + 1, sizeof *p->thing_of_row);
    p->on_cpu = xcalloc((size_t)p->t->thread_limit + 1, sizeof *p->on_cpu);
    p->of = xcalloc((size_t)p->t->thread_limit + 1, sizeof *p->of);
    note_on_cpu(p);
}

static bool find_path(struct path *p, const struct fold_when *when)
{
    p->walker = critpath_new(p->lines);
    if (!find_ranges(p, when))
        return false;
    make_tables(p);
    for (size_t i = 0; i < p->nranges; i++)
        critpath_walk(p->walker, &p->ranges[i], NULL, 0, take_step, p);
    order_pieces(p);
    try_things(p);
    try_what_if(p);
    return true;
}

struct critical *critical_new(struct threadlines *const *lines, struct symbolizer *const *frames,
                              size_t n, const struct fold_when *when, bool must)
{
    struct critical *c = xcalloc(1, sizeof *c);
    size_t found = 0;

    c->path = xcalloc(n + 1, sizeof *c->path);
    for (c->n = 0; c->n < n; c->n++) {
        c->path[c->n] =
            (struct path){.t = lines[c->n]->t, .lines = lines[c->n], .frames = frames[c->n]};
        found += critical_has(lines[c->n]->t) && find_path(&c->path[c->n], when);
    }
    in_use = c;
    if (found || !when || !fold_when_given(when) || (!must && !when->ends_in))
        return c;
    if (when->ends_in)
        flame_error(FLAME_USAGE,
                    "--ends-in %s: no thread has that number or name, or none was "
                    "there at that time; flame dump lists the threads",
                    when->ends_in);
    else
        flame_error(FLAME_USAGE, "%s: --from, --to: nothing was recorded then",
                    n ? lines[0]->t->path : "no trace");
    critical_free(c);
    return NULL;
}

void critical_free(struct critical *c)
{
    if (!c)
        return;
    for (size_t i = 0; i < c->n; i++) {
        critpath_free(c->path[i].walker);
        free(c->path[i].ranges);
        free(c->path[i].ns);
        free(c->path[i].thing_of_row);
        free(c->path[i].thing_of_frame);
        free(c->path[i].thing);
        free(c->path[i].on_cpu);
        free(c->path[i].of);
        free(c->path[i].piece);
        free(c->path[i].what_if);
    }
    free(c->path);
    free(c);
    in_use = NULL;
}

int64_t critical_value(const struct trace *t, const struct trace_row *r)
{
    for (size_t i = 0; in_use && i < in_use->n; i++)
        if (in_use->path[i].t == t)
            return in_use->path[i].ns ? in_use->path[i].ns[r - t->rows] : 0;
    return 0;
}

size_t critical_pieces(const struct trace *t, const struct critical_piece **pieces,
                       uint64_t *short_ns)
{
    for (size_t i = 0; in_use && i < in_use->n; i++)
        if (in_use->path[i].t == t) {
            *pieces = in_use->path[i].piece;
            *short_ns = in_use->path[i].piece_short_ns;
            return in_use->path[i].npieces;
        }
    return 0;
}

/* ---- comments ---- */

static void add_name(struct strbuf *sb, struct symbolizer *frames, uint32_t frame)
{
    size_t len;
    const char *text = aggregate_frame_text(symbolizer_aggregate(frames), frame, &len);

    /* The quoted name is last: a bare number at the end would make the line a stack to other
       readers. */
    strbuf_addstr(sb, " name=\"");
    strbuf_add(sb, text, len);
    strbuf_addstr(sb, "\"\n");
}

static void add_thread_name(struct strbuf *sb, const struct path *p, uint32_t thread)
{
    const struct trace_off_thread *th = trace_off_thread_at(p->t, thread);
    size_t len = th ? strnlen(th->comm, sizeof th->comm) : 0;

    add_name(sb, p->frames,
             len ? aggregate_frame(symbolizer_aggregate(p->frames), th->comm, len)
                 : aggregate_frame(symbolizer_aggregate(p->frames), "unknown", 7));
}

/* Appends the threads with most time on the path, each once. */
static void add_threads(struct strbuf *sb, const struct path *p)
{
    uint64_t below = UINT64_MAX;
    uint32_t last = 0;

    for (unsigned reported = 0; reported < THREADS_REPORTED; reported++) {
        uint32_t best = 0;

        for (uint32_t id = 1; id < p->t->thread_limit; id++)
            if (p->of[id] && (p->of[id] < below || (p->of[id] == below && id > last)) &&
                (!best || p->of[id] > p->of[best]))
                best = id;
        if (!best)
            return;
        strbuf_addf(sb, "# critical: thread ns=%" PRIu64 " tid=%" PRIu32 " pid=%" PRIu32,
                    p->of[best], trace_off_thread_at(p->t, best)->tid,
                    trace_off_thread_at(p->t, best)->pid);
        add_thread_name(sb, p, best);
        below = p->of[best];
        last = best;
    }
}

static void add_things(struct strbuf *sb, const struct path *p)
{
    for (size_t i = 0; i < p->nthings && i < THINGS_REPORTED && p->thing[i].gain_ns; i++) {
        const struct thing *thing = &p->thing[i];

        strbuf_addf(sb,
                    "# critical: free gain=%" PRIu64 " waited=%" PRIu64 " waits=%" PRIu64
                    " kind=%" PRIu32 " path=%" PRIu64,
                    thing->gain_ns, thing->by_ns, thing->waits, thing->kind, thing->own_ns);
        add_name(sb, p->frames, thing->frame);
    }
}

/* Appends the results of the rules, then that of all together, which has no name. */
static void add_what_if(struct strbuf *sb, const struct path *p)
{
    for (size_t i = 0; i < p->nwhat_if; i++) {
        const struct whatif_result *w = &p->what_if[i];
        const char *text = i < p->rules->n ? p->rules->rule[i].text : "";

        strbuf_addf(sb,
                    "# critical: what-if gain=%" PRIu64 " waits=%" PRIu64 " path=%" PRIu64
                    " all=%" PRIu64 " all-ns=%" PRIu64 " cpu=%" PRIu64,
                    w->gain_ns, w->waits, w->path_ns, w->all, w->all_ns,
                    p->of_regions ? 0 : whatif_cpu(p->t, &p->range));
        add_name(sb, p->frames,
                 aggregate_frame(symbolizer_aggregate(p->frames), text, strlen(text)));
        if (!w->last)
            continue;
        strbuf_addf(sb, "# critical: last gain=%" PRIu64 " tid=%" PRIu32, w->last_gain_ns,
                    trace_off_thread_at(p->t, w->last)->tid);
        add_thread_name(sb, p, w->last);
    }
}

static void add_path(struct strbuf *sb, const struct path *p)
{
    uint64_t zero = p->t->time_zero_ns;

    strbuf_addf(sb,
                "# critical: path length=%" PRIu64 " from=%" PRIu64 " ran=%" PRIu64
                " waited=%" PRIu64 " woken=%" PRIu64 " short=%" PRIu64 " other=%" PRIu64
                " unknown=%" PRIu64 " threads=%" PRIu64 " wakes=%" PRIu64 " things=%zu tried=%zu",
                p->length_ns, p->range.from_ns > zero ? p->range.from_ns - zero : 0, p->ran_ns,
                p->waited_ns, p->woken_ns, p->short_ns, p->other_ns + p->nowhere_ns, p->unknown_ns,
                p->nthreads, p->handed, p->nthings, p->tried);
    if (p->of_regions)
        strbuf_addf(sb, " regions=%zu", p->nranges);
    add_thread_name(sb, p, p->range.thread);
}

void critical_write(const struct critical *c, aggregate_sink sink, void *opaque)
{
    struct strbuf sb = STRBUF_INIT;

    for (size_t i = 0; i < c->n; i++) {
        if (!c->path[i].ns)
            continue;
        add_path(&sb, &c->path[i]);
        add_threads(&sb, &c->path[i]);
        add_things(&sb, &c->path[i]);
        add_what_if(&sb, &c->path[i]);
    }
    if (sb.len)
        sink(opaque, sb.buf, sb.len);
    strbuf_release(&sb);
}
