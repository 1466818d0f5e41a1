/*
 * From nodes to stacks of names, for one trace and one view:
 *
 *  1. the nodes above (towards the root of) the items are listed parents first, and
 *     with them the stacks of the wakers that the view shows
 *  2. along that list each node gets its address's number; a node to which a signal
 *     handler returned is marked as exact
 *  3. item by item each node on the way gets its stack in the aggregate, which is
 *     its parent's with its own frames on top; a waker's frames are its stack's,
 *     from the leaf to the root, and links of a chain that read alike are shown once,
 *     so a lock that ten workers pass around is one link
 *
 * So each node is visited a fixed number of times however many items and stacks share it, and no
 * step recurses. Step 3 is done afresh for each thread and part of the view, on the nodes their
 * items reach: another root, other stacks.
 *
 * Rejected: walking from each item to the root. Stacks of 1,000 frames that share 990 would be
 * walked, hashed and merged 1,000 times over.
 */
#include "fold/nodestacks.h"

#include <inttypes.h>
#include <stdlib.h>

#include "common/alloc.h"
#include "common/trace/sleepclass.h"
#include "common/trace/trace_merge.h"
#include "fold/analysis/age_limits.h"
#include "fold/analysis/offrow.h"
#include "fold/frame_annotations.h"

struct run {
    const struct nodestack_options *o;
    const struct trace *t;
    struct aggregate *to;
    struct symbolizer *frames;
    struct frame_annotations waker, cold; /* frames marked _[w] and _[o] */
    enum view_part part;                  /* of the items being added */

    uint32_t *order; /* ids of the nodes needed, parents first */
    size_t norder, order_alloc;
    /* arrays by node id */
    uint8_t *needed;
    uint8_t *exact;
    uint32_t *root;    /* id of the root node below it */
    uint32_t *address; /* number of a PC's address, see symbolize.h; else its frame */
    uint32_t *stack;
    uint32_t *stack_of;    /* the round in which `stack` was made */
    uint32_t *alone;       /* the stack of a waker's frames with nothing below; 0: not made yet */
    uint32_t *split_stack; /* by link of o->split; 0: not made yet */
};

static uint32_t frame_of_string(struct aggregate *a, struct strbuf *sb)
{
    uint32_t frame = aggregate_frame(a, sb->buf, sb->len);

    strbuf_release(sb);
    return frame;
}

/* Adds a process's title where processes are kept apart. Threads with names of their own keep
 * those. */
static bool add_title(const struct run *r, const struct trace_thread *th, uint32_t pid,
                      struct strbuf *sb)
{
    struct trace_string title = trace_title_of(r->t, pid);
    size_t comm = th ? strnlen(th->comm, sizeof th->comm - 1) : 0;
    bool own = th && th->tid != pid && (title.len < comm || memcmp(title.s, th->comm, comm) != 0);

    if (!r->o->pid || !title.len || own)
        return false;
    strbuf_add(sb, title.s, title.len);
    return true;
}

/* The frames at the root of every stack of a thread, the root first. In traces of waiting,
 * thread 0 is no thread: it stands for wakers that are none. */
static size_t root_frames(struct run *r, uint32_t thread, uint32_t frames[2])
{
    const struct trace_thread *th = trace_thread_at(r->t, thread);
    bool off = r->t->header.recorder == TRACE_RECORDER_OFF;
    uint32_t pid = r->t->header.pid;
    struct strbuf sb = STRBUF_INIT;

    if (off && !th)
        return 0;
    if (off)
        pid = trace_off_thread_at(r->t, thread)->pid;
    if (add_title(r, off ? th : NULL, pid, &sb)) {
        ;
    } else if (off) {
        strbuf_add(&sb, th->comm, strnlen(th->comm, sizeof th->comm));
        if (!sb.len)
            strbuf_addstr(&sb, "unknown");
    } else {
        strbuf_addstr(&sb, trace_program(r->t));
    }
    if (r->o->pid && pid) /* 0: the record is shared by threads of several processes */
        strbuf_addf(&sb, "-%" PRIu32, pid);
    if (r->t->is_fork)
        strbuf_addstr(&sb, TRACE_FORK_MARK);
    frames[0] = frame_of_string(r->to, &sb);
    if (!r->o->tid)
        return 1;
    if (!th) {
        strbuf_addstr(&sb, "[unknown thread]");
    } else if (th->uses > 1) {
        strbuf_addf(&sb, "%" PRIu32 " threads", th->uses);
    } else {
        strbuf_add(&sb, th->comm, strnlen(th->comm, sizeof th->comm));
        strbuf_addf(&sb, "-%" PRIu32, th->tid);
    }
    frames[1] = frame_of_string(r->to, &sb);
    return 2;
}

static uint32_t push_root(struct run *r, uint32_t thread, uint32_t stack)
{
    uint32_t frames[2];
    size_t n = root_frames(r, thread, frames);

    for (size_t i = 0; i < n; i++)
        stack = aggregate_push(r->to, stack, frames[i]);
    return stack;
}

static uint32_t push_ancestors(struct run *r, uint32_t stack)
{
    const char *s = r->t->ancestors;
    size_t len;

    for (; s && *s; s += len + (s[len] == ';')) {
        len = strcspn(s, ";");
        stack = aggregate_push(r->to, stack, aggregate_safe_frame(r->to, s, len));
    }
    return stack;
}

static uint32_t push_text(struct run *r, uint32_t stack, const char *text)
{
    return aggregate_push(r->to, stack, aggregate_frame(r->to, text, strlen(text)));
}

static uint32_t push_region(struct run *r, uint32_t stack, uint32_t region)
{
    struct strbuf sb = STRBUF_INIT;

    strbuf_addf(&sb, "[region %s]", r->t->regions[region - 1]);
    return aggregate_push(r->to, stack, frame_of_string(r->to, &sb));
}

static uint32_t root_stack(struct run *r, uint32_t thread, enum view_part part, uint32_t region)
{
    static const char *const names[] = {
        [VIEW_RUNNING] = "[running]",
        [VIEW_DISK] = "[disk files]",
        [VIEW_NETWORK] = "[network]",
        [VIEW_COLD] = NULL,
    };
    uint32_t stack = push_root(r, thread, push_ancestors(r, 0));

    if (region)
        stack = push_region(r, stack, region);
    return names[part] ? push_text(r, stack, names[part]) : stack;
}

/* ---- the nodes that are needed, and their addresses ---- */

static void list_node(struct run *r, uint32_t node)
{
    size_t begin = r->norder;

    /* A root's parent is 0, and 0 is marked from the start. */
    for (uint32_t id = node; !r->needed[id]; id = r->t->nodes[id].parent) {
        GROW(r->order, r->norder, r->order_alloc);
        r->needed[id] = 1;
        r->order[r->norder++] = id;
    }
    for (size_t a = begin, b = r->norder; a + 1 < b; a++) {
        uint32_t id = r->order[a];

        r->order[a] = r->order[--b];
        r->order[b] = id;
    }
}

static bool shows_wakers(const struct run *r)
{
    return r->o->shape == VIEW_STACK_WAKER || r->o->shape == VIEW_CHAIN;
}

static void list_links(struct run *r, const struct row_values *items)
{
    const struct chainsplit *c = r->o->split;

    for (size_t i = 0; i < items->n; i++) {
        uint32_t waker, id = items->item[i].link;

        for (; id && !r->split_stack[id]; id = c->link[id].below) {
            const struct chainsplit_link *l = &c->link[id];

            r->split_stack[id] = 1; /* listed */
            if (l->kind == CHAINSPLIT_WAKER) {
                list_node(r, l->id);
            } else if (l->kind == CHAINSPLIT_SLEEP) {
                list_node(r, off_sleeper(r->t, r->t->rows[l->id].node, &waker));
                if (waker)
                    list_node(r, waker);
            }
        }
    }
    memset(r->split_stack, 0, c->n * sizeof *r->split_stack);
}

static void list_nodes(struct run *r, const struct row_values *items)
{
    if (r->o->split)
        list_links(r, items);
    for (size_t i = 0; i < items->n; i++)
        list_node(r, items->item[i].node);
    /* The list grows as it is read, but a waker's stack has no wakers that count. */
    for (size_t i = 0, n = r->norder; shows_wakers(r) && i < n; i++)
        if (r->t->nodes[r->order[i]].kind == TRACE_NODE_WAKER)
            list_node(r, (uint32_t)r->t->nodes[r->order[i]].addr);
}

static const char *const mappings[TRACE_MAPPINGS] = {
    [TRACE_MAPPING_ANONYMOUS] = "[anonymous memory]", [TRACE_MAPPING_FILE] = "[file]",
    [TRACE_MAPPING_SHARED] = "[shared memory]",       [TRACE_MAPPING_STACK] = "[stack]",
    [TRACE_MAPPING_BREAK] = "[program break]",        [TRACE_MAPPING_ALLOCATOR] = "[allocator]",
};

static const char *const resident_kinds[TRACE_RESIDENT_KINDS] = {
    [TRACE_RESIDENT_HUGE] = "[huge pages]",
    [TRACE_RESIDENT_FORKED] = "[shared with another process]",
    [TRACE_RESIDENT_FILE] = "[file pages]",
    [TRACE_RESIDENT_FILE_SHARED] = "[file pages of several processes]",
    [TRACE_RESIDENT_SHMEM] = "[shared memory pages]",
    [TRACE_RESIDENT_ROUNDED] = "[rounded up]",
    [TRACE_RESIDENT_AROUND] = "[free around]",
    [TRACE_TOUCHED_MINOR] = TRACE_FAULT_MINOR,
    [TRACE_TOUCHED_MAJOR] = TRACE_FAULT_MAJOR,
};

static const char *const parts[TRACE_PARTS] = {
    [TRACE_PART_PROGRAM] = "[program]",      [TRACE_PART_LIBRARIES] = "[libraries]",
    [TRACE_PART_STACKS] = "[stacks]",        [TRACE_PART_ALLOCATOR] = "[allocator: free]",
    [TRACE_PART_RECORDER] = "[recorder]",    [TRACE_PART_PAUSED] = "[recording paused]",
    [TRACE_PART_OTHER] = "[other mappings]", [TRACE_PART_INHERITED] = "[inherited]",
};

static uint32_t plain_frame(struct run *r, const struct trace_node *n,
                            const struct trace_node *root)
{
    struct strbuf sb = STRBUF_INIT;
    struct trace_string name;

    if (n->kind == TRACE_NODE_FUTEX)
        return symbolizer_futex(r->frames, n->addr, root);
    if (n->kind == TRACE_NODE_TRUNCATED) {
        strbuf_addstr(&sb, "[truncated]");
    } else if (n->kind == TRACE_NODE_INHERITED) {
        strbuf_addstr(&sb, "[inherited]");
    } else if (n->kind == TRACE_NODE_MAPPING) {
        strbuf_addstr(&sb, mappings[n->addr]);
    } else if (n->kind == TRACE_NODE_TAG) {
        strbuf_addf(&sb, "[tag: %s]", r->t->regions[n->addr]);
    } else if (n->kind == TRACE_NODE_RESIDENT) {
        strbuf_addstr(&sb, resident_kinds[n->addr]);
    } else if (n->kind == TRACE_NODE_CLASS && sleepclass_is(n->addr)) {
        sleepclass_add(&sb, sleepclass_class(n->addr));
    } else if (n->kind == TRACE_NODE_CLASS) {
        age_limits_add_class(&sb, n->addr);
    } else if (n->kind == TRACE_NODE_PART) {
        strbuf_addstr(&sb, parts[n->addr]);
    } else if (n->kind == TRACE_NODE_NAMED) {
        strbuf_addstr(&sb, r->t->regions[n->addr]);
    } else {
        name = trace_node_name(r->t, n);
        strbuf_add(&sb, name.s, name.len);
        if (n->kind == TRACE_NODE_KERNEL)
            strbuf_addstr(&sb, "_[k]");
    }
    return frame_of_string(r->to, &sb);
}

static void find_addresses(struct run *r)
{
    for (size_t i = 0; i < r->norder; i++) {
        uint32_t id = r->order[i];
        const struct trace_node *n = &r->t->nodes[id], *root;

        if (n->kind == TRACE_NODE_ROOT) {
            r->root[id] = id;
            continue;
        }
        r->root[id] = r->root[n->parent];
        root = &r->t->nodes[r->root[id]];
        if (n->kind == TRACE_NODE_WAKER)
            continue;
        if (n->kind != TRACE_NODE_PC && n->kind != TRACE_NODE_PC_EXACT) {
            r->address[id] = plain_frame(r, n, root);
            continue;
        }
        r->address[id] = symbolizer_address(r->frames, n->addr, root);
        r->exact[id] |= n->kind == TRACE_NODE_PC_EXACT;
        if (symbolizer_is_sigreturn(r->frames, r->address[id]))
            r->exact[n->parent] = 1;
    }
}

/* ---- stacks ---- */

static bool is_made(struct run *r, uint32_t id)
{
    enum trace_node_kind kind = (enum trace_node_kind)r->t->nodes[id].kind;

    return (kind == TRACE_NODE_PC || kind == TRACE_NODE_PC_EXACT) &&
           symbolizer_is_anon_code(r->frames, r->address[id], r->exact[id]);
}

/* A node's own frames, outermost first; borrowed until the next call. If all of them
 * are "[java]", they become one. */
static const uint32_t *node_frames(struct run *r, uint32_t id, size_t *n)
{
    switch (r->t->nodes[id].kind) {
    case TRACE_NODE_PC:
    case TRACE_NODE_PC_EXACT:
        if (is_made(r, id) && is_made(r, r->t->nodes[id].parent)) {
            *n = 0;
            return NULL;
        }
        return symbolizer_of(r->frames, r->address[id], r->exact[id], n);
    case TRACE_NODE_WAKER:
    case TRACE_NODE_ROOT:
        *n = 0;
        return NULL;
    default:
        *n = 1;
        return &r->address[id];
    }
}

static uint32_t push_waking(struct run *r, uint32_t stack, uint32_t frame)
{
    return aggregate_push(r->to, stack, frame_annotations_frame(&r->waker, frame));
}

static uint32_t push_waking_thread(struct run *r, uint32_t stack, uint32_t thread)
{
    uint32_t roots[2];

    for (size_t n = root_frames(r, thread, roots); n > 0; n--)
        stack = push_waking(r, stack, roots[n - 1]);
    return stack;
}

/* Pushes the frames of a node's stack, the leaf first. */
static uint32_t push_waking_stack(struct run *r, uint32_t id, uint32_t stack)
{
    const struct trace_node *node;
    const uint32_t *frames;
    size_t n;

    for (node = &r->t->nodes[id]; node->kind != TRACE_NODE_ROOT; node = &r->t->nodes[id]) {
        for (frames = node_frames(r, id, &n); n > 0; n--)
            stack = push_waking(r, stack, frames[n - 1]);
        id = node->parent;
    }
    return push_waking_thread(r, stack, (uint32_t)node->addr);
}

/* A waker's appearance in a chain, by the node of its stack: equal for links that read alike. */
static uint32_t waker_looks(struct run *r, uint32_t id)
{
    if (!r->alone[id])
        r->alone[id] = push_waking_stack(r, id, push_text(r, 0, "--"));
    return r->alone[id];
}

static uint32_t push_link(struct run *r, uint32_t id, uint32_t stack)
{
    const struct trace_node *nodes = r->t->nodes;
    uint32_t before = nodes[id].parent, waker = (uint32_t)nodes[id].addr;
    bool first = nodes[before].kind != TRACE_NODE_WAKER;

    if (!(first ? shows_wakers(r) : r->o->shape == VIEW_CHAIN))
        return stack;
    if (!first && waker_looks(r, waker) == waker_looks(r, (uint32_t)nodes[before].addr))
        return stack;
    return push_waking_stack(r, waker, push_text(r, stack, "--"));
}

static uint32_t push_node(struct run *r, uint32_t id, uint32_t stack)
{
    const struct trace_node *node = &r->t->nodes[id];
    const uint32_t *frames;
    size_t n;

    if (node->kind == TRACE_NODE_WAKER)
        return push_link(r, id, stack);
    frames = node_frames(r, id, &n);
    for (size_t i = 0; i < n; i++)
        stack = aggregate_push(r->to, stack,
                               r->part == VIEW_COLD ? frame_annotations_frame(&r->cold, frames[i])
                                                    : frames[i]);
    return stack;
}

/* ---- links of a chain that is split ---- */

static uint32_t frame_of_text(struct run *r, const char *text)
{
    return aggregate_frame(r->to, text, strlen(text));
}

/* Pushes a sleep of a waker: first what ended it, if that is no thread. */
static uint32_t push_sleep(struct run *r, uint32_t row, uint32_t stack)
{
    uint32_t waker, sleeper = off_sleeper(r->t, r->t->rows[row].node, &waker);
    const uint32_t *frames;
    size_t n;

    if (waker && trace_thread_at(r->t, (uint32_t)trace_node_root(r->t, waker)->addr))
        waker = 0;
    for (; waker && r->t->nodes[waker].kind != TRACE_NODE_ROOT; waker = r->t->nodes[waker].parent)
        for (frames = node_frames(r, waker, &n); n > 0; n--)
            stack = push_waking(r, stack, frames[n - 1]);
    return push_waking_stack(r, sleeper, stack);
}

static uint32_t push_split_link(struct run *r, const struct chainsplit_link *l, uint32_t stack)
{
    static const char *const words[] = {
        [CHAINSPLIT_RUNQ] = "[run queue]",
        [CHAINSPLIT_EARLIER] = "[earlier]",
        [CHAINSPLIT_UNKNOWN] = "[unknown]",
        [CHAINSPLIT_MORE] = "[more wakers]",
    };
    const struct chainsplit_link *below = &r->o->split->link[l->below];

    if (l->kind == CHAINSPLIT_WAKER && below->kind == CHAINSPLIT_WAKER &&
        waker_looks(r, l->id) == waker_looks(r, below->id))
        return stack;
    stack = push_text(r, stack, "--");
    switch (l->kind) {
    case CHAINSPLIT_WAKER:
        return push_waking_stack(r, l->id, stack);
    case CHAINSPLIT_SLEEP:
        return push_sleep(r, l->id, stack);
    case CHAINSPLIT_CREATOR:
        return push_waking_thread(r, stack, l->id);
    default:
        return push_waking(r, stack, frame_of_text(r, words[l->kind]));
    }
}

/* The stack with the link on top, and those below it. A link is of one row, and so of one stack. */
static uint32_t push_split(struct run *r, uint32_t link, uint32_t stack)
{
    uint32_t chain[CHAINSPLIT_DEPTH_MAX], n = 0;

    for (; !r->split_stack[link] && r->o->split->link[link].below; n++) {
        chain[n] = link;
        link = r->o->split->link[link].below;
    }
    if (r->split_stack[link])
        stack = r->split_stack[link];
    while (n-- > 0) {
        stack = push_split_link(r, &r->o->split->link[chain[n]], stack);
        r->split_stack[chain[n]] = stack;
    }
    return stack;
}

static uint32_t push_longest(struct run *r, uint64_t ns, uint32_t stack)
{
    struct strbuf sb = STRBUF_INIT;

    sleepclass_add_longest(&sb, ns);
    return aggregate_push(r->to, stack, frame_of_string(r->to, &sb));
}

static void add_items(struct run *r, const struct row_values *items)
{
    uint32_t thread = UINT32_MAX, region = 0, root = 0, round = 0, *chain = NULL;
    size_t alloc = 0;

    for (size_t i = 0; i < items->n; i++) {
        const struct row_value *item = &items->item[i];
        uint32_t id = item->node, stack;
        size_t n = 0;

        if (item->thread != thread || item->part != r->part || item->region != region) {
            thread = item->thread;
            r->part = item->part;
            region = item->region;
            root = root_stack(r, thread, item->part, region);
            round++;
        }
        for (; r->stack_of[id] != round; id = r->t->nodes[id].parent) {
            if (r->t->nodes[id].kind == TRACE_NODE_ROOT) {
                r->stack[id] = root;
                r->stack_of[id] = round;
                break;
            }
            GROW(chain, n, alloc);
            chain[n++] = id;
        }
        while (n > 0) {
            uint32_t above = chain[--n];

            r->stack[above] = push_node(r, above, r->stack[r->t->nodes[above].parent]);
            r->stack_of[above] = round;
        }
        stack = r->stack[item->node];
        if (item->link)
            stack = push_split(r, item->link, stack);
        if (item->top)
            stack = push_root(r, item->top, stack);
        if (item->longest)
            stack = push_longest(r, item->longest, stack);
        if (r->o->stacks)
            r->o->stacks[i] = stack;
        else
            aggregate_add(r->to, stack, item->value);
    }
    free(chain);
}

void nodestacks_add(const struct trace *t, struct symbolizer *frames,
                    const struct row_values *items, const struct nodestack_options *o)
{
    struct aggregate *to = symbolizer_aggregate(frames);
    struct run r = {.o = o, .t = t, .to = to, .frames = frames};
    size_t nodes = (size_t)t->node_limit + 1;

    frame_annotations_init(&r.waker, to, 'w');
    frame_annotations_init(&r.cold, to, 'o');
    r.needed = xcalloc(nodes, 1);
    r.exact = xcalloc(nodes, 1);
    r.root = xcalloc(nodes, sizeof *r.root);
    r.address = xcalloc(nodes, sizeof *r.address);
    r.stack = xcalloc(nodes, sizeof *r.stack);
    r.stack_of = xcalloc(nodes, sizeof *r.stack_of);
    r.alone = xcalloc(nodes, sizeof *r.alone);
    if (o->split)
        r.split_stack = xcalloc(o->split->n, sizeof *r.split_stack);
    r.needed[0] = 1;
    list_nodes(&r, items);
    find_addresses(&r);
    add_items(&r, items);
    frame_annotations_release(&r.waker);
    frame_annotations_release(&r.cold);
    free(r.order);
    free(r.needed);
    free(r.exact);
    free(r.root);
    free(r.address);
    free(r.stack);
    free(r.stack_of);
    free(r.alone);
    free(r.split_stack);
}
