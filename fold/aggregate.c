/*
 * Merging stacks into folded lines.
 *
 * The stacks are in a tree rather than a table of whole lines: a trace's stacks
 * share most of their frames, and a table would hash and compare a line of 200
 * frames again for each of them. One hash table, keyed by parent and frame,
 * finds children.
 *
 * The lines come out in the order of `LC_ALL=C sort` without a comparison of
 * whole lines: a node is followed by either its own count or a child, so sorting
 * the texts "NAME COUNT" and "NAME;" among siblings sorts the lines. (The
 * separators must take part, as ' ' and ';' sort between the characters of longer
 * names.) Only stacks with something to show below them are visited. The walk
 * keeps its own stack: a hostile trace may be a million frames deep.
 */
#include "fold/aggregate.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "common/hash.h"
#include "common/alloc.h"
#include "common/folded.h"
#include "fold/stacks/hashslots.h"
#include "fold/stacks/place.h"

struct text {
    const char *s;
    uint32_t len;
};

struct node {
    uint32_t parent, frame;
    uint32_t child, sibling; /* filled in by aggregate_write */
    uint64_t sum;
    bool shown; /* it or one below it has a positive sum */
};

struct aggregate {
    struct text *frames;
    size_t nframes, frames_alloc;
    struct hashslots by_name;
    struct node *nodes;
    size_t nnodes, nodes_alloc;
    struct hashslots by_parent; /* all but the root */
};

#define FIRST_SLOTS 1024

struct aggregate *aggregate_new(void)
{
    struct aggregate *a = xcalloc(1, sizeof *a);

    hashslots_init(&a->by_name, FIRST_SLOTS);
    hashslots_init(&a->by_parent, FIRST_SLOTS);
    a->nodes_alloc = FIRST_SLOTS;
    a->nodes = xcalloc(FIRST_SLOTS, sizeof *a->nodes);
    a->nnodes = 1;
    return a;
}

void aggregate_free(struct aggregate *a)
{
    if (!a)
        return;
    for (size_t i = 0; i < a->nframes; i++)
        free((char *)a->frames[i].s);
    free(a->frames);
    hashslots_release(&a->by_name);
    free(a->nodes);
    hashslots_release(&a->by_parent);
    free(a);
}

/* FNV-1a, 32 bits. */
static uint32_t hash_text(const char *s, size_t len)
{
    uint32_t h = 2166136261u;

    for (size_t i = 0; i < len; i++)
        h = (h ^ (uint8_t)s[i]) * 16777619u;
    return h;
}

uint32_t aggregate_frame(struct aggregate *a, const char *name, size_t len)
{
    struct strbuf sb = STRBUF_INIT;
    uint32_t frame;

    folded_add_frame(&sb, name, len);
    frame = aggregate_safe_frame(a, sb.buf, sb.len);
    strbuf_release(&sb);
    return frame;
}

uint32_t aggregate_safe_frame(struct aggregate *a, const char *name, size_t len)
{
    struct hashslots *h = &a->by_name;
    uint32_t hash = hash_text(name, len), id;

    for (size_t i = hashslots_first(h, hash); hashslots_at(h, i, &id); i = hashslots_next(h, i)) {
        const struct text *t = &a->frames[id];

        if (hashslots_may_be(h, i, hash) && t->len == len && memcmp(t->s, name, len) == 0)
            return id;
    }
    GROW(a->frames, a->nframes, a->frames_alloc);
    id = (uint32_t)a->nframes++;
    a->frames[id] = (struct text){xmemdup0(name, len), (uint32_t)len};
    hashslots_add(h, hash, id);
    return id;
}

const char *aggregate_frame_text(const struct aggregate *a, uint32_t frame, size_t *len)
{
    *len = a->frames[frame].len;
    return a->frames[frame].s;
}

static uint32_t hash_push(uint32_t parent, uint32_t frame)
{
    uint64_t h = ((uint64_t)parent << 32 | frame) * HASH_GOLDEN;

    return (uint32_t)(h >> 29);
}

uint32_t aggregate_push(struct aggregate *a, uint32_t parent, uint32_t frame)
{
    struct hashslots *h = &a->by_parent;
    uint32_t hash = hash_push(parent, frame), id;

    for (size_t i = hashslots_first(h, hash); hashslots_at(h, i, &id); i = hashslots_next(h, i)) {
        const struct node *n = &a->nodes[id];

        if (n->parent == parent && n->frame == frame)
            return id;
    }
    GROW(a->nodes, a->nnodes, a->nodes_alloc);
    id = (uint32_t)a->nnodes++;
    a->nodes[id] = (struct node){.parent = parent, .frame = frame};
    hashslots_add(h, hash, id);
    return id;
}

void aggregate_add(struct aggregate *a, uint32_t stack, int64_t value)
{
    a->nodes[stack].sum += (uint64_t)value;
}

uint64_t *aggregate_take_sums(struct aggregate *a, size_t *n)
{
    uint64_t *sums = xreallocarray(NULL, a->nnodes, sizeof *sums);

    *n = a->nnodes;
    for (size_t i = 0; i < a->nnodes; i++) {
        sums[i] = a->nodes[i].sum;
        a->nodes[i].sum = 0;
    }
    return sums;
}

void aggregate_put_sums(struct aggregate *a, const uint64_t *sums, size_t n)
{
    for (size_t i = 0; i < a->nnodes; i++)
        a->nodes[i].sum = i < n ? sums[i] : 0;
}

void aggregate_add_stack(const struct aggregate *a, uint32_t stack, struct strbuf *sb)
{
    uint32_t *up = NULL;
    size_t n = 0, room = 0;

    for (uint32_t id = stack; id; id = a->nodes[id].parent) {
        GROW(up, n, room);
        up[n++] = a->nodes[id].frame;
    }
    while (n-- > 0) {
        const struct text *f = &a->frames[up[n]];

        strbuf_add(sb, f->s, place_name_len(f->s, f->len));
        if (n)
            strbuf_addch(sb, ';');
    }
    free(up);
}

bool *aggregate_matching(const struct aggregate *a,
                         bool (*match)(void *opaque, const char *text, size_t len), void *opaque)
{
    bool *frames = xcalloc(a->nframes, sizeof *frames), *has = xcalloc(a->nnodes, sizeof *has);

    for (size_t i = 0; i < a->nframes; i++)
        frames[i] = match(opaque, a->frames[i].s, a->frames[i].len);
    /* A parent is always made before its children. */
    for (size_t i = 1; i < a->nnodes; i++)
        has[i] = has[a->nodes[i].parent] || frames[a->nodes[i].frame];
    free(frames);
    return has;
}

uint64_t aggregate_exclude(struct aggregate *a,
                           bool (*match)(void *opaque, const char *text, size_t len), void *opaque)
{
    bool *out = aggregate_matching(a, match, opaque);
    uint64_t sum = 0;

    for (size_t i = 1; i < a->nnodes; i++)
        if (out[i]) {
            sum += a->nodes[i].sum;
            a->nodes[i].sum = 0;
        }
    free(out);
    return sum;
}

/* Links every node that will be shown to its parent; returns the number of negative sums. */
static size_t link_children(struct aggregate *a)
{
    size_t negative = 0;

    for (size_t i = 0; i < a->nnodes; i++) {
        a->nodes[i].child = a->nodes[i].sibling = 0;
        a->nodes[i].shown = false;
    }
    /* A parent is always made before its children, so one pass from the end suffices. */
    for (size_t i = a->nnodes; i-- > 1;) {
        struct node *n = &a->nodes[i], *parent = &a->nodes[n->parent];

        negative += (int64_t)n->sum < 0;
        if (!n->shown && (int64_t)n->sum <= 0)
            continue;
        n->shown = parent->shown = true;
        n->sibling = parent->child;
        parent->child = (uint32_t)i;
    }
    return negative;
}

/* A possible next part of a line: a stack's own end with its count, or a subtree. */
struct step {
    uint32_t node;
    bool own;
    uint8_t count_len;
    char count[22]; /* " 12345" for an own end, ";" for a subtree */
    const struct text *name;
};

static int by_text(const void *pa, const void *pb)
{
    const struct step *a = pa, *b = pb;
    uint32_t len = a->name->len < b->name->len ? a->name->len : b->name->len;
    int d = memcmp(a->name->s, b->name->s, len);

    if (d != 0)
        return d;
    if (a->name == b->name) {
        size_t n = a->count_len < b->count_len ? a->count_len : b->count_len;

        d = memcmp(a->count, b->count, n);
        return d ? d : a->count_len - b->count_len;
    }
    /* One name begins with the other: its separator meets the other's next byte. */
    for (const struct step *s = a->name->len < b->name->len ? a : b, *l = s == a ? b : a;;) {
        size_t n = l->name->len - len < s->count_len ? l->name->len - len : s->count_len;

        d = memcmp(s->count, l->name->s + len, n);
        if (d == 0 && n < s->count_len)
            d = memcmp(s->count + n, l->count,
                       s->count_len - n < l->count_len ? s->count_len - n : l->count_len);
        if (d == 0)
            d = -1;
        return s == a ? d : -d;
    }
}

/* Pushes the parts that can follow `parent`, the last first. */
static void push_steps(struct aggregate *a, struct step **steps, size_t *n, size_t *alloc,
                       uint32_t parent)
{
    size_t begin = *n;

    for (uint32_t c = a->nodes[parent].child; c; c = a->nodes[c].sibling) {
        const struct node *node = &a->nodes[c];
        struct step step = {.node = c, .name = &a->frames[node->frame]};

        GROW_TO(*steps, *n + 2, *alloc);
        if (node->child) {
            step.count[0] = ';';
            step.count_len = 1;
            (*steps)[(*n)++] = step;
        }
        if ((int64_t)node->sum > 0) {
            step.own = true;
            step.count_len =
                (uint8_t)snprintf(step.count, sizeof step.count, " %" PRIu64, node->sum);
            (*steps)[(*n)++] = step;
        }
    }
    if (*n - begin > 1)
        qsort(*steps + begin, *n - begin, sizeof **steps, by_text);
    for (size_t i = begin, k = *n; i + 1 < k; i++) {
        struct step s = (*steps)[i];

        (*steps)[i] = (*steps)[--k];
        (*steps)[k] = s;
    }
}

void aggregate_to_strbuf(void *opaque, const char *text, size_t len)
{
    strbuf_add(opaque, text, len);
}

size_t aggregate_write(struct aggregate *a, aggregate_sink sink, void *opaque)
{
    size_t negative = link_children(a), n = 0, alloc = 0, path_alloc = 0, depth = 0;
    struct strbuf line = STRBUF_INIT;
    struct step *steps = NULL;
    struct {
        size_t len;
        uint32_t node;
    } *path = NULL; /* for each frame in `line`: where its text ends */

    push_steps(a, &steps, &n, &alloc, 0);
    while (n > 0) {
        struct step step = steps[--n];
        uint32_t parent = a->nodes[step.node].parent;

        while (depth > 0 && path[depth - 1].node != parent)
            depth--;
        strbuf_setlen(&line, depth ? path[depth - 1].len : 0);
        strbuf_add(&line, step.name->s, step.name->len);
        strbuf_add(&line, step.count, step.count_len);
        if (step.own) {
            strbuf_addch(&line, '\n');
            sink(opaque, line.buf, line.len);
            continue;
        }
        GROW(path, depth, path_alloc);
        path[depth].len = line.len;
        path[depth++].node = step.node;
        push_steps(a, &steps, &n, &alloc, step.node);
    }
    free(path);
    free(steps);
    strbuf_release(&line);
    return negative;
}
