/*
 * Folding: from rows and nodes to stacks of names.
 *
 * One trace at a time, all of them into one aggregate:
 *
 *   1. every row's value, summed for each node (with --tid: kept apart for each
 *      thread); what comes to nothing is forgotten here, which for the live view
 *      is nearly everything
 *   2. the nodes above what is left, listed parents first
 *   3. along that list each node gets its address's number; a node that a signal
 *      handler returned to is noted as exact
 *   4. along the list again each node gets its stack in the aggregate, which is
 *      its parent's with its own frames on top
 *
 * So each node is looked at a fixed number of times however many rows and stacks
 * share it, and no step recurses. With --tid step 4 is done afresh for each
 * thread, on the nodes that thread's rows reach.
 *
 * Rejected: walking from each row to the root. Stacks of 1,000 frames that share
 * 990 would be walked, hashed and merged 1,000 times over.
 */
#include "fold/fold.h"

#include <inttypes.h>
#include <stdlib.h>

#include "common/error.h"
#include "fold/aggregate.h"
#include "fold/frames.h"
#include "fold/guarded.h"
#include "fold/memviews.h"

struct item {
    uint32_t node;
    uint32_t thread; /* 0 unless threads are kept apart */
    int64_t value;
};

struct run {
    const struct fold_options *opt;
    const struct view *view;
    const struct trace *t;
    struct aggregate *to;
    struct frames *frames;

    struct item *items;
    size_t nitems;
    uint32_t *order; /* ids of the nodes needed, parents first */
    size_t norder;
    /* By node id: */
    uint8_t *needed;
    uint8_t *exact;
    uint32_t *epoch;
    uint32_t *address; /* number of a PC's address, see frames.h */
    uint32_t *stack;
    uint32_t *stack_of; /* which thread's round `stack` was made in, + 1 */
};

void fold_options_for(struct fold_options *opt, const struct filter *f)
{
    opt->tid |= f->by_thread;
    opt->pid |= f->by_process;
    opt->place = f->by;
    opt->symbols.lines |= f->by == PLACE_FILE || f->by == PLACE_LINE;
}

static uint32_t frame_of_string(struct aggregate *a, struct strbuf *sb)
{
    uint32_t frame = aggregate_frame(a, sb->buf, sb->len);

    strbuf_release(sb);
    return frame;
}

static uint32_t root_stack(struct run *r, uint32_t thread)
{
    const struct trace_thread *th = trace_thread_at(r->t, thread);
    const char *slash = strrchr(r->t->exe, '/');
    const char *name = r->t->comm;
    struct strbuf sb = STRBUF_INIT;
    uint32_t stack;

    if (!*name)
        name = slash ? slash + 1 : r->t->exe;
    strbuf_addstr(&sb, *name ? name : "unknown");
    if (r->opt->pid)
        strbuf_addf(&sb, "-%" PRIu32, r->t->header.pid);
    stack = aggregate_push(r->to, 0, frame_of_string(r->to, &sb));
    if (!r->opt->tid)
        return stack;
    if (!th) {
        strbuf_addstr(&sb, "[unknown thread]");
    } else if (th->uses > 1) {
        strbuf_addf(&sb, "%" PRIu32 " threads", th->uses);
    } else {
        strbuf_add(&sb, th->comm, strnlen(th->comm, sizeof th->comm));
        strbuf_addf(&sb, "-%" PRIu32, th->tid);
    }
    return aggregate_push(r->to, stack, frame_of_string(r->to, &sb));
}

/* Whose thread a row counts for: the one that allocated, if the stack knows it. */
static uint32_t thread_of_row(const struct run *r, const struct trace_row *row)
{
    uint32_t thread = (uint32_t)trace_node_root(r->t, row->node)->addr;

    return trace_thread_at(r->t, thread) ? thread : row->thread;
}

static int by_thread(const void *pa, const void *pb)
{
    const struct item *a = pa, *b = pb;

    if (a->thread != b->thread)
        return a->thread < b->thread ? -1 : 1;
    return (a->node > b->node) - (a->node < b->node);
}

static void collect_items(struct run *r)
{
    const struct trace *t = r->t;
    uint64_t *sums = r->opt->tid ? NULL : xcalloc(t->node_limit, sizeof *sums);
    size_t alloc = 0;

    for (uint32_t id = 0; id < t->row_limit; id++) {
        const struct trace_row *row = &t->rows[id];
        bool counts = trace_row_used(row) && !(r->opt->own && (row->flags & TRACE_ROW_INHERITED));
        int64_t value = counts ? r->view->value(t, row) : 0;

        if (value == 0)
            continue;
        if (sums) {
            sums[row->node] += (uint64_t)value;
            continue;
        }
        if (r->nitems == alloc) {
            alloc = alloc ? alloc * 2 : 1024;
            r->items = xreallocarray(r->items, alloc, sizeof *r->items);
        }
        r->items[r->nitems++] =
            (struct item){.node = row->node, .thread = thread_of_row(r, row), .value = value};
    }
    for (uint32_t id = 0; sums && id < t->node_limit; id++) {
        if (sums[id] == 0)
            continue;
        if (r->nitems == alloc) {
            alloc = alloc ? alloc * 2 : 1024;
            r->items = xreallocarray(r->items, alloc, sizeof *r->items);
        }
        r->items[r->nitems++] = (struct item){.node = id, .value = (int64_t)sums[id]};
    }
    if (r->opt->tid && r->nitems)
        qsort(r->items, r->nitems, sizeof *r->items, by_thread);
    free(sums);
}

static void list_nodes(struct run *r)
{
    size_t alloc = 0;

    for (size_t i = 0; i < r->nitems; i++) {
        size_t begin = r->norder;

        /* A root's parent is 0, and 0 is marked from the start. */
        for (uint32_t id = r->items[i].node; !r->needed[id]; id = r->t->nodes[id].parent) {
            if (r->norder == alloc) {
                alloc = alloc ? alloc * 2 : 4096;
                r->order = xreallocarray(r->order, alloc, sizeof *r->order);
            }
            r->needed[id] = 1;
            r->order[r->norder++] = id;
        }
        for (size_t a = begin, b = r->norder; a + 1 < b; a++) {
            uint32_t id = r->order[a];

            r->order[a] = r->order[--b];
            r->order[b] = id;
        }
    }
}

static void find_addresses(struct run *r)
{
    for (size_t i = 0; i < r->norder; i++) {
        uint32_t id = r->order[i];
        const struct trace_node *n = &r->t->nodes[id];

        if (n->kind == TRACE_NODE_ROOT) {
            r->epoch[id] = (uint32_t)(n->addr >> 32);
            continue;
        }
        r->epoch[id] = r->epoch[n->parent];
        if (n->kind != TRACE_NODE_PC && n->kind != TRACE_NODE_PC_EXACT)
            continue;
        r->address[id] = frames_address(r->frames, n->addr, r->epoch[id]);
        r->exact[id] |= n->kind == TRACE_NODE_PC_EXACT;
        if (frames_is_sigreturn(r->frames, r->address[id]))
            r->exact[n->parent] = 1;
    }
}

static uint32_t push_node(struct run *r, uint32_t id, uint32_t below)
{
    const struct trace_node *n = &r->t->nodes[id];
    struct trace_string name;

    switch (n->kind) {
    case TRACE_NODE_TRUNCATED:
        return aggregate_push(r->to, below, aggregate_frame(r->to, "[truncated]", 11));
    case TRACE_NODE_NAME:
        name = trace_node_name(r->t, n);
        return aggregate_push(r->to, below, aggregate_frame(r->to, name.s, name.len));
    default:
        return frames_push(r->frames, r->address[id], r->exact[id], below);
    }
}

/* The stacks of the nodes in r->order that this thread's items reach. */
static void add_items(struct run *r)
{
    uint32_t thread = UINT32_MAX, root = 0, round = 0, *chain = NULL;
    size_t alloc = 0;

    for (size_t i = 0; i < r->nitems; i++) {
        const struct item *item = &r->items[i];
        uint32_t id = item->node;
        size_t n = 0;

        if (item->thread != thread) {
            thread = item->thread;
            root = root_stack(r, thread);
            round++;
        }
        for (; r->stack_of[id] != round; id = r->t->nodes[id].parent) {
            if (r->t->nodes[id].kind == TRACE_NODE_ROOT) {
                r->stack[id] = root;
                r->stack_of[id] = round;
                break;
            }
            if (n == alloc) {
                alloc = alloc ? alloc * 2 : 256;
                chain = xreallocarray(chain, alloc, sizeof *chain);
            }
            chain[n++] = id;
        }
        while (n > 0) {
            uint32_t above = chain[--n];

            r->stack[above] = push_node(r, above, r->stack[r->t->nodes[above].parent]);
            r->stack_of[above] = round;
        }
        aggregate_add(r->to, r->stack[item->node], item->value);
    }
    free(chain);
}

static void fold_one(const struct fold_options *opt, const struct view *view, const struct trace *t,
                     struct symbols *syms, struct aggregate *to)
{
    struct run r = {.opt = opt, .view = view, .t = t, .to = to};
    size_t nodes = (size_t)t->node_limit + 1;

    if (t->missing_rows)
        flame_warn("%s: copied while the program ran; %" PRIu32 " rows of counters are left out",
                   t->path, t->missing_rows);
    r.frames = frames_new(t, syms, to, opt->place);
    r.needed = xcalloc(nodes, 1);
    r.exact = xcalloc(nodes, 1);
    r.epoch = xcalloc(nodes, sizeof *r.epoch);
    r.address = xcalloc(nodes, sizeof *r.address);
    r.stack = xcalloc(nodes, sizeof *r.stack);
    r.stack_of = xcalloc(nodes, sizeof *r.stack_of);
    r.needed[0] = 1;
    collect_items(&r);
    list_nodes(&r);
    find_addresses(&r);
    add_items(&r);
    free(r.items);
    free(r.order);
    free(r.needed);
    free(r.exact);
    free(r.epoch);
    free(r.address);
    free(r.stack);
    free(r.stack_of);
    frames_free(r.frames);
}

static const struct view *find_view(const struct fold_options *opt)
{
    const char *name = opt->view ? opt->view : FOLD_DEFAULT_VIEW;
    const struct view *view = view_find(name);
    struct strbuf list = STRBUF_INIT;

    if (!view) {
        view_list(&list);
        flame_error(FLAME_USAGE, "unknown view '%s'; the views are %s", name, list.buf);
        strbuf_release(&list);
    }
    return view;
}

static int check_fits(const struct trace *t, const struct view *view)
{
    if (t->header.recorder != TRACE_RECORDER_MEM)
        return flame_error(FLAME_USAGE, "%s: not a trace of memory; there is no view '%s' of it",
                           t->path, view->name);
    if (strcmp(view->name, "peak") == 0 && !(t->header.features & TRACE_FEATURE_PEAK))
        return flame_error(FLAME_USAGE, "%s: recorded without the peak; choose another view",
                           t->path);
    return 0;
}

/* The coarsest sampling among the traces; 0: all are exact. */
static uint64_t sample_of(struct trace *const *traces, size_t n)
{
    uint64_t most = 0;

    for (size_t i = 0; i < n; i++)
        if (traces[i]->header.sample_bytes > most)
            most = traces[i]->header.sample_bytes;
    return most;
}

/* What is left when views and traces are known to be good. */
static int fold_here(const struct fold_options *opt, struct trace *const *traces, size_t ntraces,
                     aggregate_sink sink, void *opaque)
{
    const struct view *view = find_view(opt);
    struct aggregate *to = aggregate_new();
    struct symbols *syms = symbols_new(&opt->symbols);
    size_t negative;

    for (size_t i = 0; i < ntraces; i++)
        fold_one(opt, view, traces[i], syms, to);
    if (!opt->no_header) {
        struct strbuf sb = STRBUF_INIT;

        strbuf_addf(&sb, "# flame: view=%s unit=%s", view->name, view->unit);
        /* Never last: a number there would make it a stack to other readers. */
        if (sample_of(traces, ntraces))
            strbuf_addf(&sb, " sample=%" PRIu64 " estimates=yes", sample_of(traces, ntraces));
        strbuf_addch(&sb, '\n');
        sink(opaque, sb.buf, sb.len);
        strbuf_release(&sb);
    }
    negative = aggregate_write(to, sink, opaque);
    if (negative)
        flame_warn("%zu stacks left out whose sum is below zero: more was freed than allocated "
                   "there, as far as this trace knows",
                   negative);
    symbols_free(syms);
    aggregate_free(to);
    return 0;
}

int fold_loaded_to(const struct fold_options *opt, struct trace *const *traces, size_t ntraces,
                   aggregate_sink sink, void *opaque)
{
    const struct view *view = find_view(opt);

    if (!view)
        return FLAME_USAGE;
    for (size_t i = 0; i < ntraces; i++) {
        int err = check_fits(traces[i], view);

        if (err)
            return err;
    }
    if (opt->symbols.no_inline && !opt->symbols.lines)
        return fold_here(opt, traces, ntraces, sink, opaque);
    return guarded_fold(opt, traces, ntraces, sink, opaque, fold_here);
}

int fold_traces_to(const struct fold_options *opt, const char *const *paths, size_t npaths,
                   aggregate_sink sink, void *opaque)
{
    struct trace **traces = xcalloc(npaths, sizeof *traces);
    int err = find_view(opt) ? 0 : FLAME_USAGE;

    for (size_t i = 0; i < npaths && !err; i++)
        err = trace_load(paths[i], &traces[i]);
    if (!err)
        err = fold_loaded_to(opt, traces, npaths, sink, opaque);
    for (size_t i = 0; i < npaths; i++)
        trace_free(traces[i]);
    free(traces);
    return err;
}

static void append(void *opaque, const char *line, size_t len)
{
    strbuf_add(opaque, line, len);
}

int fold_loaded(const struct fold_options *opt, struct trace *const *traces, size_t ntraces,
                struct strbuf *out)
{
    size_t before = out->len;
    int err = fold_loaded_to(opt, traces, ntraces, append, out);

    if (err)
        strbuf_setlen(out, before);
    return err;
}

int fold_traces(const struct fold_options *opt, const char *const *paths, size_t npaths,
                struct strbuf *out)
{
    size_t before = out->len;
    int err = fold_traces_to(opt, paths, npaths, append, out);

    if (err)
        strbuf_setlen(out, before);
    return err;
}

int fold_trace_to_folded(const char *path, const char *view, struct strbuf *out)
{
    struct fold_options opt = {.view = view};

    return fold_traces(&opt, &path, 1, out);
}
