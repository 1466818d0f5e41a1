/*
 * The frame tree: many stacks in, one node for each distinct path.
 *
 * Problem: a million stacks of a kilobyte each are to be merged in a few seconds in memory that
 * grows with distinct paths, and they come in any order.
 *
 * Algorithm: the beginning that a line shares with the one before it (kept as a copy) has its
 * nodes already, which makes sorted input almost free; the rest is cut at ';'. For its frames
 * one hash table maps (parent, name bytes) straight to the child, where there are several; only
 * a new child has its name interned in a second table. Both are open addressed, with 32 bits of
 * hash in the slot so that a miss rarely touches the node and growing touches none. The work
 * that is done once, at the end, is in frametree_order.c.
 *
 * Rejected: sorting all lines first and merging neighbours, as flamegraph.pl does. It holds the
 * whole text in memory and compares long common prefixes over and over; the tree needs neither.
 * A list of children searched by name is slow under a root with ten thousand of them.
 */
#define _GNU_SOURCE
#include "render/frametree.h"

#include <errno.h>
#include <iconv.h>
#include <stdlib.h>

#include "common/hash.h"
#include "common/alloc.h"
#include "render/frametree_order.h"

#define CHUNK_SIZE (256u << 10)

struct slot {
    uint32_t hash;  /* its lower half: the place, and a test that avoids most reads of nodes */
    uint32_t index; /* of the node or name; 0: free (the root is never looked up) */
};

struct table {
    struct slot *slots;
    uint32_t used;
    uint32_t mask; /* size - 1; a power of two */
};

struct frame {
    size_t start, len; /* in the line's copy */
    uint32_t node;
};

struct frametree_builder {
    bool reverse, keep_order;
    uint32_t column; /* the one that lines are counted in */
    size_t nodes_cap, names_cap;
    struct table children, names;
    /* The line before: its text and frames in the order they were merged. */
    struct strbuf last;
    struct frame *frames;
    size_t nframes, frames_cap;
    struct strbuf turned; /* the present line, from leaf to root */
};

/* Name bytes live in chunks that never move. */
struct chunk {
    struct chunk *next;
    size_t used, size;
    char bytes[];
};

static const char *arena_copy(struct frametree *t, const char *s, size_t len)
{
    struct chunk *c = t->arena;

    if (!c || c->size - c->used < len) {
        size_t size = len > CHUNK_SIZE ? len : CHUNK_SIZE;

        c = xmalloc(sizeof *c + size);
        *c = (struct chunk){.next = t->arena, .size = size};
        t->arena = c;
    }
    memcpy(c->bytes + c->used, s, len);
    c->used += len;
    return c->bytes + c->used - len;
}

static uint64_t mix(uint64_t a, uint64_t b)
{
    unsigned __int128 p = (unsigned __int128)a * b;

    return (uint64_t)p ^ (uint64_t)(p >> 64);
}

static uint32_t hash_bytes(const char *s, size_t len)
{
    uint64_t h = HASH_GOLDEN ^ len, w;

    for (; len >= 8; s += 8, len -= 8) {
        memcpy(&w, s, 8);
        h = mix(h ^ w, 0xd1b54a32d192ed03u);
    }
    w = 0;
    memcpy(&w, s, len);
    return (uint32_t)mix(h ^ w, 0xaef17502108ef2d9u);
}

static uint32_t hash_child(uint32_t parent, uint32_t name_hash)
{
    return (uint32_t)mix((uint64_t)parent << 32 | name_hash, 0x9fb21c651e98df25u);
}

static void table_init(struct table *tab, uint32_t size)
{
    tab->slots = xcalloc(size, sizeof *tab->slots);
    tab->mask = size - 1;
    tab->used = 0;
}

static void slot_put(struct table *tab, uint32_t hash, uint32_t index)
{
    uint32_t i = hash & tab->mask;

    while (tab->slots[i].index)
        i = (i + 1) & tab->mask;
    tab->slots[i] = (struct slot){hash, index};
}

/* Adds an entry; doubling keeps the table at most two thirds full. */
static void table_add(struct table *tab, uint32_t hash, uint32_t index)
{
    struct table old = *tab;

    if (tab->used++ >= tab->mask / 3 * 2) {
        table_init(tab, (old.mask + 1) * 2);
        tab->used = old.used + 1;
        for (uint32_t i = 0; i <= old.mask; i++)
            if (old.slots[i].index)
                slot_put(tab, old.slots[i].hash, old.slots[i].index);
        free(old.slots);
    }
    slot_put(tab, hash, index);
}

static bool name_is(const struct frametree_name *n, const char *s, size_t len)
{
    return n->len == len && memcmp(n->s, s, len) == 0;
}

/* Until frametree_finish ranks them, a name's rank holds its hash. */
static uint32_t add_name(struct frametree *t, const char *s, size_t len, uint32_t hash)
{
    struct frametree_builder *b = t->b;

    GROW(t->names, t->nnames, b->names_cap);
    t->names[t->nnames] =
        (struct frametree_name){.s = arena_copy(t, s, len), .len = (uint32_t)len, .rank = hash};
    return t->nnames++;
}

static uint32_t intern(struct frametree *t, const char *s, size_t len, uint32_t hash)
{
    struct table *tab = &t->b->names;
    uint32_t name;

    for (uint32_t i = hash & tab->mask; tab->slots[i].index; i = (i + 1) & tab->mask)
        if (tab->slots[i].hash == hash && name_is(&t->names[tab->slots[i].index], s, len))
            return tab->slots[i].index;
    name = add_name(t, s, len, hash);
    table_add(tab, hash, name);
    return name;
}

static uint32_t add_node(struct frametree *t, uint32_t parent, uint32_t name)
{
    struct frametree_builder *b = t->b;

    if (t->n == b->nodes_cap) {
        GROW(t->nodes, t->n, b->nodes_cap);
        if (t->self_part)
            t->self_part = xreallocarray(t->self_part, b->nodes_cap, sizeof(double));
        if (t->delta)
            t->delta = xreallocarray(t->delta, b->nodes_cap, sizeof(double));
        for (uint32_t i = 0; i < t->ncolumns; i++)
            t->columns[i] = xreallocarray(t->columns[i], b->nodes_cap, sizeof(double));
    }
    t->nodes[t->n] = (struct frametree_node){
        .name = name, .parent = parent, .first = FRAMETREE_NONE, .next = FRAMETREE_NONE};
    if (t->self_part)
        t->self_part[t->n] = 0;
    if (t->delta)
        t->delta[t->n] = 0;
    for (uint32_t i = 0; i < t->ncolumns; i++)
        t->columns[i][t->n] = 0;
    if (parent != FRAMETREE_NONE) {
        t->nodes[t->n].next = t->nodes[parent].first;
        t->nodes[parent].first = t->n;
    }
    return t->n++;
}

static bool node_is(const struct frametree *t, uint32_t node, const char *s, size_t len)
{
    return name_is(&t->names[t->nodes[node].name], s, len);
}

static uint32_t add_child(struct frametree *t, uint32_t parent, const char *s, size_t len,
                          uint32_t name_hash)
{
    /* This limit is far below the sizes at which 32-bit numbers and the table's doubling wrap. */
    if (t->n >= 1u << 31)
        return FRAMETREE_NONE;
    return add_node(t, parent, intern(t, s, len, name_hash));
}

/*
 * The child of `parent` with name s, made when it is not there; FRAMETREE_NONE when the tree is
 * full. Most frames have one callee, so a child enters the table only when a second one comes:
 * tails of stacks never touch it.
 */
static uint32_t child(struct frametree *t, uint32_t parent, const char *s, size_t len)
{
    struct table *tab = &t->b->children;
    uint32_t first = t->nodes[parent].first, name_hash, hash, node;

    if (first == FRAMETREE_NONE)
        return add_child(t, parent, s, len, hash_bytes(s, len));
    if (t->nodes[first].next == FRAMETREE_NONE && node_is(t, first, s, len))
        return first;
    name_hash = hash_bytes(s, len);
    hash = hash_child(parent, name_hash);
    if (t->nodes[first].next == FRAMETREE_NONE) {
        table_add(tab, hash_child(parent, t->names[t->nodes[first].name].rank), first);
    } else {
        for (uint32_t i = hash & tab->mask; tab->slots[i].index; i = (i + 1) & tab->mask) {
            node = tab->slots[i].index;
            if (tab->slots[i].hash == hash && t->nodes[node].parent == parent &&
                node_is(t, node, s, len))
                return node;
        }
    }
    node = add_child(t, parent, s, len, name_hash);
    if (node != FRAMETREE_NONE)
        table_add(tab, hash, node);
    return node;
}

void frametree_init(struct frametree *t, bool reverse)
{
    *t = (struct frametree){0};
    t->b = xcalloc(1, sizeof *t->b);
    t->b->reverse = reverse;
    t->b->last = (struct strbuf)STRBUF_INIT;
    t->b->turned = (struct strbuf)STRBUF_INIT;
    table_init(&t->b->children, 4096);
    table_init(&t->b->names, 4096);
    /* Its name stays out of the table: a frame with the name "all" is another one. */
    add_node(t, FRAMETREE_NONE, add_name(t, "all", 3, 0));
}

void frametree_keep_order(struct frametree *t)
{
    t->b->keep_order = true;
}

/* Cuts line[at..len) into frames, the first of which is b->frames[n]. Returns the new number
 * of frames. */
static size_t cut_frames(struct frametree_builder *b, size_t n, const char *line, size_t at,
                         size_t len)
{
    for (;;) {
        const char *semi = memchr(line + at, ';', len - at);
        size_t end = semi ? (size_t)(semi - line) : len;

        GROW(b->frames, n, b->frames_cap);
        b->frames[n++] = (struct frame){.start = at, .len = end - at};
        if (!semi)
            return n;
        at = end + 1;
    }
}

/* The number of equal bytes at the beginning of both. */
static size_t same_bytes(const char *a, const char *b, size_t len)
{
    size_t i = 0;
    uint64_t x, y;

    for (; i + 8 <= len; i += 8) {
        memcpy(&x, a + i, 8);
        memcpy(&y, b + i, 8);
        if (x != y)
            return i + (size_t)(__builtin_ctzll(x ^ y) / 8); /* little-endian, as x86 is */
    }
    while (i < len && a[i] == b[i])
        i++;
    return i;
}

/* The number of frames that the line shares with the one before, with their nodes and places. */
static size_t keep_frames(const struct frametree_builder *b, const char *line, size_t len)
{
    size_t most = len < b->last.len ? len : b->last.len, n = b->nframes;
    size_t same = same_bytes(line, b->last.buf, most);

    while (n > 0) {
        size_t end = b->frames[n - 1].start + b->frames[n - 1].len;

        if (end < same || (end == same && (end == len || line[end] == ';')))
            break;
        n--;
    }
    return n;
}

/* The line with its frames in reverse order, from the leaf. */
static const char *turn_around(struct frametree_builder *b, const char *line, size_t len)
{
    strbuf_clear(&b->turned);
    for (size_t end = len, start;; end = start - 1) {
        const char *semi = memrchr(line, ';', end);

        start = semi ? (size_t)(semi - line) + 1 : 0;
        strbuf_add(&b->turned, line + start, end - start);
        if (!semi)
            return b->turned.buf;
        strbuf_addch(&b->turned, ';');
    }
}

static void count_line(struct frametree *t, uint32_t node, const struct folded_line *line)
{
    if (t->b->column) {
        t->columns[t->b->column - 1][node] += folded_count_double(line->count);
        return;
    }
    if (line->count.whole == UINT64_MAX)
        t->saturated = true;
    frametree_add_whole(t, &t->nodes[node].self, line->count.whole);
    if (line->count.part > 0) {
        if (!t->self_part)
            t->self_part = xcalloc(t->b->nodes_cap, sizeof(double));
        frametree_add_part(t, &t->nodes[node].self, &t->self_part[node], line->count.part);
    }
    if (line->differential) {
        if (!t->delta)
            t->delta = xcalloc(t->b->nodes_cap, sizeof(double));
        t->delta[node] += folded_count_double(line->count) - folded_count_double(line->count1);
    }
}

int frametree_place(struct frametree *t, const char *s, size_t len, uint32_t *place)
{
    struct frametree_builder *b = t->b;
    size_t kept, at;
    uint32_t node = 0;

    /* Empty frames at the end are dropped, those in the middle are kept. */
    while (len > 0 && s[len - 1] == ';')
        len--;
    if (b->reverse)
        s = turn_around(b, s, len);
    kept = b->nframes = keep_frames(b, s, len);
    at = 0;
    if (kept) {
        node = b->frames[kept - 1].node;
        at = b->frames[kept - 1].start + b->frames[kept - 1].len;
    }
    if (at < len)
        b->nframes = cut_frames(b, kept, s, kept ? at + 1 : 0, len);
    for (size_t i = kept; i < b->nframes; i++) {
        struct frame *f = &b->frames[i];

        if (f->len >= UINT32_MAX)
            return -EOVERFLOW;
        if (b->keep_order)
            node = f->node =
                add_child(t, node, s + f->start, f->len, hash_bytes(s + f->start, f->len));
        else
            node = f->node = child(t, node, s + f->start, f->len);
        if (node == FRAMETREE_NONE)
            return -EOVERFLOW;
    }
    strbuf_setlen(&b->last, at);
    strbuf_add(&b->last, s + at, len - at);
    *place = node;
    return 0;
}

int frametree_add(struct frametree *t, const struct folded_line *line)
{
    uint32_t node;
    int err = frametree_place(t, line->stack, line->len, &node);

    if (!err)
        count_line(t, node, line);
    return err;
}

void frametree_use_column(struct frametree *t, uint32_t column)
{
    if (column > t->ncolumns) {
        t->columns = xreallocarray(t->columns, column, sizeof *t->columns);
        for (; t->ncolumns < column; t->ncolumns++)
            t->columns[t->ncolumns] = xcalloc(t->b->nodes_cap, sizeof(double));
    }
    t->b->column = column;
}

static void builder_free(struct frametree *t)
{
    if (!t->b)
        return;
    free(t->b->children.slots);
    free(t->b->names.slots);
    free(t->b->frames);
    strbuf_release(&t->b->last);
    strbuf_release(&t->b->turned);
    free(t->b);
    t->b = NULL;
}

void frametree_finish(struct frametree *t)
{
    bool keep_order = t->b->keep_order;

    builder_free(t);
    frametree_sum(t);
    frametree_rank_names(t);
    if (keep_order)
        frametree_list_siblings(t);
    else
        frametree_sort_siblings(t);
}

int frametree_recode(struct frametree *t, const char *from)
{
    struct strbuf sb = STRBUF_INIT;
    iconv_t cd = iconv_open("UTF-8", from);

    if (cd == (iconv_t)-1)
        return -errno;
    for (uint32_t i = 1; i < t->nnames; i++) {
        char *in = (char *)t->names[i].s;
        size_t left = t->names[i].len;

        strbuf_clear(&sb);
        while (left > 0) {
            char text[512], *out = text;
            size_t room = sizeof text;
            bool stuck = iconv(cd, &in, &left, &out, &room) == (size_t)-1 && errno != E2BIG;

            strbuf_add(&sb, text, sizeof text - room);
            if (stuck) { /* no character in that encoding: the pictures show U+FFFD */
                strbuf_addch(&sb, '\xff');
                in++;
                left--;
            }
        }
        t->names[i].s = arena_copy(t, sb.buf, sb.len);
        t->names[i].len = (uint32_t)sb.len;
    }
    iconv_close(cd);
    strbuf_release(&sb);
    return 0;
}

void frametree_release(struct frametree *t)
{
    struct chunk *c = t->arena;

    builder_free(t);
    while (c) {
        struct chunk *next = c->next;

        free(c);
        c = next;
    }
    free(t->nodes);
    free(t->names);
    free(t->modules);
    free(t->module_of);
    free(t->self_part);
    free(t->total_part);
    free(t->delta);
    free(t->was);
    free(t->now);
    free(t->lost);
    free(t->role);
    for (uint32_t i = 0; i < t->ncolumns; i++)
        free(t->columns[i]);
    free(t->columns);
    *t = (struct frametree){0};
}

struct folded_count frametree_self(const struct frametree *t, uint32_t node)
{
    return (struct folded_count){t->nodes[node].self, t->self_part ? t->self_part[node] : 0};
}

struct folded_count frametree_total(const struct frametree *t, uint32_t node)
{
    return (struct folded_count){t->nodes[node].total, t->total_part ? t->total_part[node] : 0};
}

uint32_t frametree_next(const struct frametree *t, uint32_t node, bool descend, uint32_t *depth)
{
    if (descend && t->nodes[node].first != FRAMETREE_NONE) {
        ++*depth;
        return t->nodes[node].first;
    }
    while (t->nodes[node].next == FRAMETREE_NONE) {
        node = t->nodes[node].parent;
        if (node == FRAMETREE_NONE)
            return FRAMETREE_NONE;
        --*depth;
    }
    return t->nodes[node].next;
}
