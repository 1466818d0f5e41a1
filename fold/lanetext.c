/*
 * Rows that have intervals and are not left out get numbers, over all traces; so do their
 * threads. Then the intervals are gathered, and reduced as soon as they are too many for memory
 * or for the text. Last, each view lists the rows of each of its stacks: so a page finds the
 * stack in which a row counts, and computes every view of a part of the time by adding rows up.
 * Chains that are split are of links in place of rows: the page splits the waits of a part itself.
 */
#define _GNU_SOURCE
#include "fold/lanetext.h"

#include <inttypes.h>
#include <stdlib.h>

#include "common/alloc.h"
#include "common/trace/varint_base64.h"
#include "common/trace/trace_intervals.h"
#include "fold/critical.h"
#include "fold/row_values.h"
#include "fold/nodestacks.h"
#include "fold/analysis/chaintext.h"
#include "fold/analysis/offrow.h"

#define SHORTEST_NS 1000u
#define STEP 4u
#define REGIONS_MAX 65536u         /* of a trace */
#define LIST_MAX ((size_t)1 << 20) /* intervals in memory */

/* A row that is in the text. */
struct reported {
    uint32_t thread, kind;
    uint32_t waker; /* thread plus one; 0: none is known */
};

struct thread {
    const struct trace_off_thread *is;
    struct trace_string title;
    uint32_t parent; /* thread plus one that created it; 0: none is known */
};

/* Numbers of one trace's rows and threads, by id: the number plus one; 0: not in the text. */
struct numbers {
    uint32_t *row, *thread;
};

struct run {
    const struct lanetext_input *in;
    struct numbers *of; /* by trace */
    struct reported *rows;
    size_t nrows, rows_room;
    struct thread *threads;
    size_t nthreads, threads_room;
    struct trace_interval *list; /* `row` is the number here */
    size_t n, room;
    uint64_t zero_ns, short_ns, lost_ns;
    struct chaintext_trace *links; /* by trace; NULL: chains are not split */
    uint32_t nlinks;
};

static bool has_intervals(const struct trace *t)
{
    return t->header.recorder == TRACE_RECORDER_OFF && t->nintervals > 0;
}

/* ---- rows and threads ---- */

static bool is_named(const struct run *r, const struct trace_off_thread *th)
{
    const struct fold_options *o = r->in->opt;

    for (size_t i = 0; i < o->ncomms; i++)
        if (strncmp(th->comm, o->comms[i], sizeof th->comm - 1) == 0)
            return true;
    return o->ncomms == 0;
}

/* The number of a thread, plus one. */
static uint32_t thread_number(struct run *r, size_t trace, uint32_t id)
{
    const struct trace *t = r->in->traces[trace];
    const struct trace_off_thread *th = trace_off_thread_at(t, id);
    uint32_t *number;

    if (!th)
        return 0;
    number = &r->of[trace].thread[id];
    if (!*number) {
        GROW(r->threads, r->nthreads, r->threads_room);
        r->threads[r->nthreads++] = (struct thread){.is = th, .title = trace_title_of(t, th->pid)};
        *number = (uint32_t)r->nthreads;
    }
    return *number;
}

static void find_parents(struct run *r, size_t trace)
{
    const struct trace *t = r->in->traces[trace];
    const uint32_t *number = r->of[trace].thread;

    for (size_t i = 0; i < t->nlives; i++) {
        const struct trace_life *life = &t->lives[i];

        if (life->thread < t->thread_limit && number[life->thread] &&
            life->parent < t->thread_limit)
            r->threads[number[life->thread] - 1].parent = number[life->parent];
    }
}

static void number_row(struct run *r, size_t trace, uint32_t id)
{
    const struct trace *t = r->in->traces[trace];
    const struct trace_off_row *row = off_row(&t->rows[id]);
    const struct trace_off_thread *th = trace_off_thread_at(t, row->thread);
    uint32_t waker;

    if (!th || !is_named(r, th) ||
        (r->in->idle[trace] && idle_row(r->in->idle[trace], &t->rows[id])))
        return;
    off_sleeper(t, row->node, &waker);
    GROW(r->rows, r->nrows, r->rows_room);
    r->rows[r->nrows++] = (struct reported){
        .thread = thread_number(r, trace, row->thread) - 1,
        .kind = row->kind,
        .waker = waker ? thread_number(r, trace, (uint32_t)trace_node_root(t, waker)->addr) : 0};
    r->of[trace].row[id] = (uint32_t)r->nrows;
}

/* ---- intervals ---- */

static size_t bytes_of(const struct run *r)
{
    uint8_t text[TRACE_INTERVAL_BYTES];
    uint64_t before = r->zero_ns;
    size_t all = 0;

    for (size_t i = 0; i < r->n; i++)
        all += (size_t)(trace_interval_put(text, &r->list[i], &before) - text);
    return all;
}

static void shorten(struct run *r)
{
    r->short_ns = r->short_ns ? r->short_ns * STEP : SHORTEST_NS;
    r->n = trace_intervals_merge(r->list, r->n, r->short_ns, trace_intervals_window(r->short_ns));
}

static void gather(struct run *r, size_t trace)
{
    const struct trace *t = r->in->traces[trace];
    struct trace_intervals_reader reader;
    struct trace_interval one;
    uint64_t lost_ns = 0; /* each record holds the sum so far */

    for (size_t i = 0; i < t->nintervals; i++) {
        const struct trace_intervals *h = &t->intervals[i].head;

        if (h->short_ns > r->short_ns && h->short_ns <= UINT64_MAX / STEP)
            r->short_ns = h->short_ns;
        if (h->lost_ns > lost_ns)
            lost_ns = h->lost_ns;
    }
    r->lost_ns += t->clip ? 0 : lost_ns; /* it may be of other parts of the time */
    for (trace_intervals_begin_clipped(&reader, t, t->clip); trace_intervals_next(&reader, &one);) {
        if (!r->of[trace].row[one.row] || one.begin_ns < r->zero_ns)
            continue;
        one.row = r->of[trace].row[one.row] - 1;
        GROW(r->list, r->n, r->room);
        r->list[r->n++] = one;
        while (r->n > LIST_MAX && r->short_ns <= UINT64_MAX / STEP)
            shorten(r);
    }
}

/* ---- text ---- */

static void add_packed(struct strbuf *sb, const char *key, const struct run *r,
                       uint32_t (*of)(const struct reported *row))
{
    struct varint_writer p;

    strbuf_addf(sb, " %s=", key);
    varint_begin(&p, sb);
    for (size_t i = 0; i < r->nrows; i++)
        varint_add(&p, of(&r->rows[i]));
    varint_end(&p);
}

static uint32_t thread_of(const struct reported *row)
{
    return row->thread;
}

static uint32_t kind_of(const struct reported *row)
{
    return row->kind;
}

static uint32_t waker_of(const struct reported *row)
{
    return row->waker;
}

/* Adds a name. It may hold any bytes, so it is packed, too, one number a byte. */
static void add_name(struct strbuf *sb, const char *key, const char *s, size_t len)
{
    struct varint_writer p;

    strbuf_addf(sb, " %s=", key);
    varint_begin(&p, sb);
    for (size_t i = 0; i < len; i++)
        varint_add(&p, (unsigned char)s[i]);
    varint_end(&p);
}

static void write_threads(const struct run *r, struct strbuf *sb)
{
    for (size_t i = 0; i < r->nthreads; i++) {
        const struct thread *t = &r->threads[i];

        strbuf_addf(sb,
                    "# lanes: thread pid=%" PRIu32 " tid=%" PRIu32 " uses=%" PRIu32 " wall=%" PRIu64
                    " cpu=%" PRIu64 " runq=%" PRIu64 " parent=%" PRIu32,
                    t->is->pid, t->is->tid, t->is->uses, t->is->wall_ns, t->is->cpu_ns,
                    t->is->runq_ns, t->parent);
        add_name(sb, "name", t->is->comm, strnlen(t->is->comm, sizeof t->is->comm));
        add_name(sb, "title", t->title.s, t->title.len);
        strbuf_addch(sb, '\n');
    }
}

static int by_thread(const void *pa, const void *pb, void *arg)
{
    const struct trace_interval *a = pa, *b = pb;
    const struct run *r = arg;
    uint32_t x = r->rows[a->row].thread, y = r->rows[b->row].thread;

    if (x != y)
        return x < y ? -1 : 1;
    if (a->begin_ns != b->begin_ns)
        return a->begin_ns < b->begin_ns ? -1 : 1;
    if (a->end_ns != b->end_ns)
        return a->end_ns < b->end_ns ? -1 : 1;
    return (a->row > b->row) - (a->row < b->row);
}

/* Packs the waits of one thread, in the order in which they begin: row with kind, begin relative
 * to the one before, and the other fields as in trace_interval_put. */
static void add_waits(struct strbuf *sb, const struct run *r, size_t from, size_t to)
{
    uint64_t before = r->zero_ns;
    struct varint_writer p;

    varint_begin(&p, sb);
    for (size_t i = from; i < to; i++) {
        const struct trace_interval *w = &r->list[i];
        uint64_t length = w->end_ns - w->begin_ns;

        varint_add(&p, (uint64_t)w->row << 2 | w->kind);
        varint_add(&p, w->begin_ns - before);
        varint_add(&p, length);
        varint_add_signed(&p, (int64_t)(length - w->ns - w->runq_ns));
        varint_add(&p, w->runq_ns);
        if (w->kind == TRACE_INTERVAL_SHARE || w->kind == TRACE_INTERVAL_SUM) {
            varint_add(&p, w->times);
            varint_add(&p, w->longest_ns);
        }
        before = w->begin_ns;
    }
    varint_end(&p);
}

static void write_waits(struct run *r, struct strbuf *sb)
{
    size_t next;

    qsort_r(r->list, r->n, sizeof *r->list, by_thread, r);
    for (size_t i = 0; i < r->n; i = next) {
        uint32_t thread = r->rows[r->list[i].row].thread;

        for (next = i + 1; next < r->n && r->rows[r->list[next].row].thread == thread; next++)
            ;
        strbuf_addf(sb, "# lanes: waits thread=%" PRIu32 " n=%zu data=", thread, next - i);
        add_waits(sb, r, i, next);
        strbuf_addch(sb, '\n');
    }
}

/* Writes the trace's critical path: for each piece the thread, its distance from the piece
 * before, and its length. */
static void write_path(const struct run *r, size_t trace, struct strbuf *sb)
{
    const struct critical_piece *piece = NULL;
    uint64_t short_ns = 0, before = r->zero_ns;
    size_t n = critical_pieces(r->in->traces[trace], &piece, &short_ns), reported = 0;
    struct varint_writer p;

    for (size_t i = 0; i < n; i++)
        reported += r->of[trace].thread[piece[i].thread] && piece[i].begin_ns >= r->zero_ns;
    if (!reported)
        return;
    strbuf_addf(sb, "# lanes: path n=%zu short=%" PRIu64 " data=", reported, short_ns);
    varint_begin(&p, sb);
    for (size_t i = n; i-- > 0;) {
        uint32_t thread = r->of[trace].thread[piece[i].thread];

        if (!thread || piece[i].begin_ns < r->zero_ns)
            continue;
        varint_add(&p, thread - 1);
        varint_add(&p, piece[i].begin_ns - before);
        varint_add(&p, piece[i].end_ns - piece[i].begin_ns);
        before = piece[i].end_ns;
    }
    varint_end(&p);
    strbuf_addch(sb, '\n');
}

/* ---- regions ---- */

static uint64_t span_of(const struct trace_region_time *t)
{
    return t->end_ns - t->begin_ns;
}

/* The least length of regions in the text, so that there are no more than REGIONS_MAX; 0: all. */
static uint64_t least_region(const struct trace *t)
{
    uint64_t least = 0;
    size_t n;

    do {
        n = 0;
        for (size_t i = 0; i < t->nregion_times; i++)
            n += span_of(&t->region_times[i]) >= least;
        if (n > REGIONS_MAX)
            least = least ? least * STEP : SHORTEST_NS;
    } while (n > REGIONS_MAX);
    return least;
}

static int region_by_begin(const void *pa, const void *pb)
{
    const struct trace_region_time *a = pa, *b = pb;

    if (a->begin_ns != b->begin_ns)
        return a->begin_ns < b->begin_ns ? -1 : 1;
    return (a->end_ns < b->end_ns) - (a->end_ns > b->end_ns);
}

/* Writes the regions of one name: thread, begin relative to the one before, length. */
static void write_regions_of(const struct run *r, size_t trace, uint32_t name,
                             const struct trace_region_time *list, size_t n, struct strbuf *sb)
{
    const struct trace *t = r->in->traces[trace];
    uint64_t before = r->zero_ns;
    struct varint_writer p;

    strbuf_addf(sb, "# lanes: region n=%zu", n);
    add_name(sb, "name", t->regions[name], strlen(t->regions[name]));
    strbuf_addstr(sb, " data=");
    varint_begin(&p, sb);
    for (size_t i = 0; i < n; i++) {
        varint_add(&p, r->of[trace].thread[list[i].thread] - 1);
        varint_add(&p, list[i].begin_ns - before);
        varint_add(&p, span_of(&list[i]));
        before = list[i].begin_ns;
    }
    varint_end(&p);
    strbuf_addch(sb, '\n');
}

static void write_regions(const struct run *r, size_t trace, struct strbuf *sb)
{
    const struct trace *t = r->in->traces[trace];
    struct trace_region_time *list = xcalloc(t->nregion_times + 1, sizeof *list);
    uint64_t least = least_region(t);

    for (uint32_t name = 0; t->nregion_times && name < t->nregions; name++) {
        size_t n = 0;

        for (size_t i = 0; i < t->nregion_times; i++) {
            const struct trace_region_time *one = &t->region_times[i];

            if (one->region == name && span_of(one) >= least && one->begin_ns >= r->zero_ns &&
                one->thread < t->thread_limit && r->of[trace].thread[one->thread])
                list[n++] = *one;
        }
        if (!n)
            continue;
        qsort(list, n, sizeof *list, region_by_begin);
        write_regions_of(r, trace, name, list, n, sb);
    }
    free(list);
}

/* ---- stacks of the rows in each view ---- */

/* The rows of a stack, in the order they were met. */
struct stack_rows {
    uint32_t *row;
    size_t n, room;
};

struct placing {
    struct run *r;
    const struct view *view;
    struct stack_rows *list;
    size_t n, room;
    uint32_t *of; /* by stack: its place in the list plus one */
    size_t of_room;
    aggregate_sink sink;
    void *opaque;
    struct strbuf sb;
};

static void place_row(struct placing *p, uint32_t stack, uint32_t row)
{
    struct stack_rows *s;

    GROW_FILLED(p->of, stack, p->of_room, 0);
    if (!p->of[stack]) {
        GROW(p->list, p->n, p->room);
        p->list[p->n++] = (struct stack_rows){.n = 0};
        p->of[stack] = (uint32_t)p->n;
    }
    s = &p->list[p->of[stack] - 1];
    GROW(s->row, s->n, s->room);
    s->row[s->n++] = row;
}

/* The links of a trace, for a view that has them in place of rows. */
static const struct chainsplit *split_of(const struct placing *p, size_t trace)
{
    return p->view->shape == VIEW_CHAIN && p->r->links ? p->r->links[trace].split : NULL;
}

static void place_rows(struct placing *p, size_t trace)
{
    const struct lanetext_input *in = p->r->in;
    const struct trace *t = in->traces[trace];
    struct filter_report left_out = FILTER_REPORT_INIT;
    struct row_value_options io = {.view = p->view,
                                   .tid = in->opt->tid,
                                   .comms = in->opt->comms,
                                   .ncomms = in->opt->ncomms,
                                   .idle = in->idle[trace],
                                   .split = split_of(p, trace),
                                   .left_out = &left_out};
    struct row_values items = row_values_of_rows(t, &io);
    struct nodestack_options no = {
        .shape = p->view->shape, .split = io.split, .pid = in->opt->pid, .tid = in->opt->tid};

    no.stacks = xcalloc(items.n + 1, sizeof *no.stacks);
    nodestacks_add(t, in->frames[trace], &items, &no);
    for (size_t i = 0; i < items.n; i++) {
        uint32_t row = p->r->of[trace].row[items.item[i].value], link = items.item[i].link;

        if (row && link)
            place_row(p, no.stacks[i], p->r->links[trace].link[link] - 1);
        else if (row)
            place_row(p, no.stacks[i], (io.split ? p->r->nlinks : 0) + row - 1);
    }
    free(no.stacks);
    free(items.item);
    filter_report_release(&left_out);
}

/* Writes a stack that comes from the aggregate, with its place in the list. */
static void write_stack(void *opaque, const char *line, size_t len)
{
    struct placing *w = opaque;
    size_t digits = len, before = 0;
    const struct stack_rows *s;
    struct varint_writer p;

    while (digits && line[digits - 1] != ' ')
        digits--;
    s = &w->list[strtoul(line + digits, NULL, 10) - 1];
    strbuf_clear(&w->sb);
    strbuf_addf(&w->sb, "# lanes: in %s ", w->view->name);
    strbuf_add(&w->sb, line, digits);
    strbuf_addstr(&w->sb, "rows=");
    varint_begin(&p, &w->sb);
    for (size_t i = 0; i < s->n; i++) {
        varint_add_signed(&p, (int64_t)s->row[i] - (int64_t)before);
        before = s->row[i];
    }
    varint_end(&p);
    strbuf_addch(&w->sb, '\n');
    w->sink(w->opaque, w->sb.buf, w->sb.len);
}

static void write_view(struct run *r, const struct view *view, aggregate_sink sink, void *opaque)
{
    struct placing p = {.r = r, .view = view, .sink = sink, .opaque = opaque, .sb = STRBUF_INIT};
    struct aggregate *to = r->in->to;
    size_t n;

    for (size_t i = 0; i < r->in->ntraces; i++)
        if (has_intervals(r->in->traces[i]))
            place_rows(&p, i);
    free(aggregate_take_sums(to, &n));
    for (size_t stack = 0; stack < p.of_room; stack++)
        if (p.of[stack])
            aggregate_add(to, (uint32_t)stack, p.of[stack]);
    aggregate_exclude(to, excludes_match, r->in->excludes);
    aggregate_write(to, write_stack, &p);
    free(aggregate_take_sums(to, &n));
    for (size_t i = 0; i < p.n; i++)
        free(p.list[i].row);
    free(p.list);
    free(p.of);
    strbuf_release(&p.sb);
}

/* ---- the whole text ---- */

/* Whether a row counts time, as intervals do, and not the number of sleeps of a class. */
static bool takes_time(const struct trace *t, uint32_t row)
{
    return trace_row_used(&t->rows[row]) && trace_off_rows(t)[row].kind != TRACE_OFF_CLASS;
}

static void read_traces(struct run *r)
{
    for (size_t i = 0; i < r->in->ntraces; i++) {
        const struct trace *t = r->in->traces[i];

        if (has_intervals(t) && (!r->zero_ns || t->time_zero_ns < r->zero_ns))
            r->zero_ns = t->time_zero_ns;
    }
    for (size_t i = 0; i < r->in->ntraces; i++) {
        const struct trace *t = r->in->traces[i];

        if (!has_intervals(t))
            continue;
        r->of[i] = (struct numbers){.row = xcalloc(t->row_limit + 1u, sizeof(uint32_t)),
                                    .thread = xcalloc(t->thread_limit + 1u, sizeof(uint32_t))};
        for (uint32_t id = 0; id < t->row_limit; id++)
            if (takes_time(t, id))
                number_row(r, i, id);
        find_parents(r, i);
        gather(r, i);
    }
}

/* Whether the text has all that chains are made of: the waits of all threads. */
static bool has_chains(const struct run *r)
{
    const struct fold_options *o = r->in->opt;
    bool any = false;

    for (size_t i = 0; i < r->in->ntraces; i++) {
        any = any || r->in->split[i];
        if (r->in->idle[i])
            return false;
    }
    return any && !o->ncomms && !o->nexcludes;
}

static void number_links(struct run *r)
{
    r->links = xcalloc(r->in->ntraces + 1, sizeof *r->links);
    for (size_t i = 0; i < r->in->ntraces; i++) {
        r->links[i] = (struct chaintext_trace){.split = r->of[i].row ? r->in->split[i] : NULL,
                                               .row = r->of[i].row,
                                               .thread = r->of[i].thread};
        r->nlinks = chaintext_number(&r->links[i], r->nlinks);
    }
}

/* Chains that are split are no sums of rows. Without their links, a page has them as a whole. */
static bool is_placed(const struct run *r, const struct view *view)
{
    bool split = false;

    for (size_t i = 0; i < r->in->ntraces; i++)
        split = split || r->in->split[i];
    return view->shape != VIEW_CLASS && (view->shape != VIEW_CHAIN || !split || r->links);
}

static void write_all(struct run *r, aggregate_sink sink, void *opaque)
{
    size_t most = r->in->most_bytes ? r->in->most_bytes : LANETEXT_BYTES;
    struct strbuf sb = STRBUF_INIT;

    while (bytes_of(r) > most && r->short_ns <= UINT64_MAX / STEP)
        shorten(r);
    strbuf_addf(&sb,
                "# lanes: begin rows=%zu threads=%zu short=%" PRIu64 " window=%" PRIu64
                " lost=%" PRIu64 " zero=%" PRIu64 "\n",
                r->nrows, r->nthreads, r->short_ns, trace_intervals_window(r->short_ns), r->lost_ns,
                r->zero_ns);
    write_threads(r, &sb);
    strbuf_addstr(&sb, "# lanes: rows");
    add_packed(&sb, "thread", r, thread_of);
    add_packed(&sb, "kind", r, kind_of);
    add_packed(&sb, "waker", r, waker_of);
    strbuf_addch(&sb, '\n');
    if (has_chains(r)) {
        number_links(r);
        if (r->nlinks) /* else all that the view chain has is of rows */
            chaintext_add(&sb, r->links, r->in->ntraces, (uint32_t)r->nrows, (uint32_t)r->nthreads,
                          r->zero_ns);
    }
    sink(opaque, sb.buf, sb.len);
    for (size_t i = 0; i < r->in->nviews; i++)
        if (is_placed(r, r->in->views[i]))
            write_view(r, r->in->views[i], sink, opaque);
    strbuf_clear(&sb);
    write_waits(r, &sb);
    for (size_t i = 0; i < r->in->ntraces; i++)
        if (has_intervals(r->in->traces[i])) {
            write_path(r, i, &sb);
            write_regions(r, i, &sb);
        }
    sink(opaque, sb.buf, sb.len);
    strbuf_release(&sb);
}

void lanetext_write(const struct lanetext_input *in, aggregate_sink sink, void *opaque)
{
    struct run r = {.in = in};

    r.of = xcalloc(in->ntraces + 1, sizeof *r.of);
    read_traces(&r);
    if (r.n)
        write_all(&r, sink, opaque);
    for (size_t i = 0; i < in->ntraces; i++) {
        if (r.links)
            free(r.links[i].link);
        free(r.of[i].row);
        free(r.of[i].thread);
    }
    free(r.links);
    free(r.of);
    free(r.rows);
    free(r.threads);
    free(r.list);
}
