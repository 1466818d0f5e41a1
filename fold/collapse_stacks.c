/*
 * Interned names, whole stacks as arrays of their ids, one sum a stack.
 *
 * Problem: hundreds of megabytes of samples, mostly the same stacks over and
 * over, must become sorted folded lines; at worst a million different stacks,
 * whose text is a gigabyte. A stack held as ids takes a tenth of its text, is
 * found by one hash over a few hundred bytes, and never touches its names.
 *
 * Sorting. Folded lines sort by their bytes, where ';' is a byte like others:
 * "a!;b" comes before "a;b". So each name has two ranks, one as "name;" and one
 * as "name" at the end, from one sort of both kinds. Two stacks compare as their
 * ranks do, number by number. Ids are replaced by ranks before the sort.
 *
 * Rejected: a tree of frames. It shares the roots, but finding a stack is one
 * lookup a frame instead of one a stack, and a node with its table slot costs
 * more than the ids it saves until stacks share most of their frames. And a
 * table of folded strings, as the scripts in common use have it: ten times the
 * memory, and every sample builds its string before it can be looked up.
 */
#include "fold/collapse_stacks.h"

#include <stdlib.h>

#include "fold/collapse_hash.h"
#include "fold/collapse_scan.h"

struct name {
    size_t at; /* in the arena */
    uint32_t len;
    uint32_t hash;
};

struct stack {
    size_t at; /* in the pool of ids */
    uint32_t n;
    uint32_t hash;
    struct collapse_count count;
};

/*
 * Open addressing; a slot is the hash above an index plus one, 0 is empty. The
 * hash there spares a look at what the slot stands for.
 */
struct table {
    uint64_t *slots;
    size_t mask, used;
};

struct collapse_stacks {
    uint64_t seed;
    struct strbuf arena;
    struct name *names;
    size_t names_alloc;
    struct table by_name;
    uint32_t *pool;
    size_t pool_len, pool_alloc;
    struct stack *stacks;
    size_t stacks_alloc;
    struct table by_ids;
    /* Only when a line had two columns. */
    struct collapse_count *second;
    size_t second_alloc;
    unsigned char *columns; /* bit 0, bit 1: which columns a stack has */
    bool strip;
    struct strbuf stripped;
    /* After sorting. */
    bool sorted;
    uint32_t *ranks;  /* two a name */
    uint32_t *unrank; /* rank to name */
    uint32_t *order;
};

static bool grow(void **items, size_t *alloc, size_t need, size_t size)
{
    if (need <= *alloc)
        return false;
    *alloc = *alloc + *alloc / 2 > need ? *alloc + *alloc / 2 : need < 64 ? 64 : need;
    *items = xreallocarray(*items, *alloc, size);
    return true;
}

struct collapse_stacks *collapse_stacks_new(void)
{
    struct collapse_stacks *st = xcalloc(1, sizeof *st);

    st->arena = st->stripped = (struct strbuf)STRBUF_INIT;
    st->seed = collapse_hash_seed();
    st->by_name.mask = st->by_ids.mask = 1023;
    st->by_name.slots = xcalloc(1024, sizeof *st->by_name.slots);
    st->by_ids.slots = xcalloc(1024, sizeof *st->by_ids.slots);
    return st;
}

void collapse_stacks_free(struct collapse_stacks *st)
{
    if (!st)
        return;
    strbuf_release(&st->arena);
    strbuf_release(&st->stripped);
    free(st->names);
    free(st->by_name.slots);
    free(st->pool);
    free(st->stacks);
    free(st->by_ids.slots);
    free(st->second);
    free(st->columns);
    free(st->ranks);
    free(st->unrank);
    free(st->order);
    free(st);
}

static void table_put(struct table *t, uint32_t hash, uint32_t index)
{
    size_t i = hash & t->mask;

    while (t->slots[i])
        i = (i + 1) & t->mask;
    t->slots[i] = (uint64_t)hash << 32 | (index + 1);
}

/* Twice the slots when half of them are full. */
static bool table_is_full(struct table *t)
{
    if (++t->used <= t->mask / 2)
        return false;
    t->mask = t->mask * 2 + 1;
    free(t->slots);
    t->slots = xcalloc(t->mask + 1, sizeof *t->slots);
    return true;
}

static void strip_addresses(struct strbuf *sb, const char *s, size_t len)
{
    strbuf_clear(sb);
    for (size_t i = 0; i < len;) {
        size_t n = 0;

        if (s[i] == '0' && i + 1 < len && s[i + 1] == 'x')
            n = span_hex((struct span){s + i + 2, len - i - 2});
        if (n)
            strbuf_addstr(sb, "0x...");
        else
            strbuf_addch(sb, s[i]);
        i += n ? n + 2 : 1;
    }
}

uint32_t collapse_stacks_name(struct collapse_stacks *st, const char *name, size_t len)
{
    struct table *t = &st->by_name;
    struct name *nm;
    uint32_t id, hash;

    if (st->strip) {
        strip_addresses(&st->stripped, name, len);
        name = st->stripped.buf;
        len = st->stripped.len;
    }
    hash = (uint32_t)collapse_hash(name, len, st->seed);
    for (size_t i = hash & t->mask; t->slots[i]; i = (i + 1) & t->mask) {
        if (t->slots[i] >> 32 != hash)
            continue;
        nm = &st->names[(uint32_t)t->slots[i] - 1];
        if (nm->len == len && memcmp(st->arena.buf + nm->at, name, len) == 0)
            return (uint32_t)t->slots[i] - 1;
    }
    id = (uint32_t)t->used;
    grow((void **)&st->names, &st->names_alloc, t->used + 1, sizeof *st->names);
    nm = &st->names[id];
    *nm = (struct name){st->arena.len, (uint32_t)len, hash};
    strbuf_add(&st->arena, name, len);
    if (table_is_full(t))
        for (uint32_t i = 0; i < id; i++)
            table_put(t, st->names[i].hash, i);
    table_put(t, hash, id);
    return id;
}

const char *collapse_stacks_text(const struct collapse_stacks *st, uint32_t id, size_t *len)
{
    *len = st->names[id].len;
    return st->arena.buf + st->names[id].at;
}

bool collapse_stacks_is_empty(const struct collapse_stacks *st, uint32_t id)
{
    return st->names[id].len == 0;
}

size_t collapse_stacks_len(const struct collapse_stacks *st)
{
    return st->by_ids.used;
}

size_t collapse_stacks_names(const struct collapse_stacks *st)
{
    return st->by_name.used;
}

void collapse_stacks_strip(struct collapse_stacks *st, bool strip)
{
    st->strip = strip;
}

void collapse_stacks_normalize(struct collapse_stacks *st)
{
    struct collapse_count sum[2] = {{0, 0}, {0, 0}};
    long double a, b;

    if (!st->second)
        return;
    for (size_t i = 0; i < st->by_ids.used; i++) {
        collapse_count_add(&sum[0], &st->stacks[i].count);
        collapse_count_add(&sum[1], &st->second[i]);
    }
    a = collapse_count_number(&sum[0]);
    b = collapse_count_number(&sum[1]);
    if (a == b || a == 0)
        return;
    for (size_t i = 0; i < st->by_ids.used; i++) {
        struct collapse_count *c = &st->stacks[i].count;
        /* Whole numbers exactly where they fit; else as near as a long double comes. */
        bool whole = !sum[0].part && !sum[1].part && sum[1].whole < UINT64_MAX;
        long double scaled = collapse_count_number(c) * b / a;

        if (whole)
            c->whole = (uint64_t)((unsigned __int128)c->whole * sum[1].whole / sum[0].whole);
        else
            c->whole = scaled < 0x1p64L ? (uint64_t)scaled : UINT64_MAX;
        c->part = 0;
    }
}

bool collapse_stacks_two(const struct collapse_stacks *st)
{
    return st->second != NULL;
}

uint32_t collapse_stacks_find(struct collapse_stacks *st, const uint32_t *ids, size_t n)
{
    uint32_t hash = (uint32_t)collapse_hash(ids, n * sizeof *ids, st->seed);
    struct table *t = &st->by_ids;
    struct stack *s;
    uint32_t id;

    for (size_t i = hash & t->mask; t->slots[i]; i = (i + 1) & t->mask) {
        if (t->slots[i] >> 32 != hash)
            continue;
        s = &st->stacks[(uint32_t)t->slots[i] - 1];
        if (s->n == n && (n == 0 || memcmp(st->pool + s->at, ids, n * sizeof *ids) == 0))
            return (uint32_t)t->slots[i] - 1;
    }
    id = (uint32_t)t->used;
    grow((void **)&st->stacks, &st->stacks_alloc, t->used + 1, sizeof *st->stacks);
    grow((void **)&st->pool, &st->pool_alloc, st->pool_len + n, sizeof *st->pool);
    st->stacks[id] = (struct stack){st->pool_len, (uint32_t)n, hash, {0, 0}};
    if (n)
        memcpy(st->pool + st->pool_len, ids, n * sizeof *ids);
    st->pool_len += n;
    if (table_is_full(t))
        for (uint32_t i = 0; i < id; i++)
            table_put(t, st->stacks[i].hash, i);
    table_put(t, hash, id);
    return id;
}

/* Room for second columns, whose stacks so far had the first only. */
static void two_columns(struct collapse_stacks *st)
{
    size_t old = st->second_alloc, need = st->stacks_alloc > 64 ? st->stacks_alloc : 64;

    if (!grow((void **)&st->second, &st->second_alloc, need, sizeof *st->second))
        return;
    st->columns = xrealloc(st->columns, st->second_alloc);
    memset(st->second + old, 0, (st->second_alloc - old) * sizeof *st->second);
    memset(st->columns + old, 0, st->second_alloc - old);
    if (!old)
        memset(st->columns, 1, st->by_ids.used);
}

void collapse_stacks_want_two(struct collapse_stacks *st)
{
    if (!st->second)
        two_columns(st);
}

void collapse_stacks_add_to(struct collapse_stacks *st, uint32_t stack,
                            const struct collapse_count *first, const struct collapse_count *second)
{
    if (first)
        collapse_count_add(&st->stacks[stack].count, first);
    if (second && !st->second)
        two_columns(st);
    if (st->second) {
        two_columns(st);
        st->columns[stack] |= (unsigned char)((first ? 1 : 0) | (second ? 2 : 0));
        if (second)
            collapse_count_add(&st->second[stack], second);
    }
}

void collapse_stacks_add(struct collapse_stacks *st, const uint32_t *ids, size_t n,
                         const struct collapse_count *first, const struct collapse_count *second)
{
    /* Stacks there before the first with two columns have one. */
    if (second && !st->second)
        two_columns(st);
    collapse_stacks_add_to(st, collapse_stacks_find(st, ids, n), first, second);
}

bool collapse_stacks_is(const struct collapse_stacks *st, uint32_t stack, const char *text,
                        size_t len)
{
    const struct stack *s = &st->stacks[stack];
    size_t at = 0;

    for (uint32_t k = 0; k < s->n; k++) {
        const struct name *nm = &st->names[st->pool[s->at + k]];

        if (k > 0 && (at == len || text[at++] != ';'))
            return false;
        if (nm->len > len - at || memcmp(st->arena.buf + nm->at, text + at, nm->len) != 0)
            return false;
        at += nm->len;
    }
    return s->n > 0 && at == len && !st->strip;
}

/* ---- sorting ---- */

struct end {
    uint64_t head; /* the first eight bytes, big-endian, to compare without the arena */
    const char *text;
    uint32_t len;
    uint32_t which; /* name * 2, plus one when another frame follows */
};

/* "name;" against "name" at the end of the line, which is less than any byte. */
static int compare_ends(const void *pa, const void *pb)
{
    const struct end *a = pa, *b = pb;
    size_t n = a->len < b->len ? a->len : b->len;
    int c, ca, cb;

    if (a->head != b->head)
        return a->head < b->head ? -1 : 1;
    c = memcmp(a->text, b->text, n);
    if (c)
        return c;
    ca = a->len > n ? (unsigned char)a->text[n] : a->which & 1 ? ';' : -1;
    cb = b->len > n ? (unsigned char)b->text[n] : b->which & 1 ? ';' : -1;
    return (ca > cb) - (ca < cb);
}

static uint64_t head_of(const char *s, size_t len, bool more)
{
    uint64_t h = 0;

    for (size_t i = 0; i < 7; i++)
        h = h << 8 | (uint64_t)(i < len ? (unsigned char)s[i] : i == len && more ? ';' : 0);
    return h;
}

static void rank_names(struct collapse_stacks *st)
{
    size_t n = st->by_name.used;
    struct end *ends = xcalloc(2 * n, sizeof *ends);
    /* A NUL in a name must not look like the end of another. */
    bool nul = st->arena.len && memchr(st->arena.buf, 0, st->arena.len);

    for (size_t i = 0; i < 2 * n; i++) {
        const struct name *nm = &st->names[i / 2];

        ends[i].text = st->arena.buf + nm->at;
        ends[i].len = nm->len;
        ends[i].which = (uint32_t)i;
        ends[i].head = nul ? 0 : head_of(ends[i].text, nm->len, i & 1);
    }
    qsort(ends, 2 * n, sizeof *ends, compare_ends);
    st->ranks = xcalloc(2 * n, sizeof *st->ranks);
    st->unrank = xcalloc(2 * n, sizeof *st->unrank);
    for (size_t i = 0; i < 2 * n; i++) {
        st->ranks[ends[i].which] = (uint32_t)i;
        st->unrank[i] = ends[i].which / 2;
    }
    free(ends);
}

/* The rank at depth d, plus one; 0 beyond the leaf. */
static uint32_t key_at(const struct collapse_stacks *st, uint32_t stack, size_t d)
{
    const struct stack *s = &st->stacks[stack];

    return d < s->n ? st->pool[s->at + d] + 1 : 0;
}

struct keyed {
    uint32_t key, stack;
};

static int compare_keys(const void *pa, const void *pb)
{
    const struct keyed *a = pa, *b = pb;

    return (a->key > b->key) - (a->key < b->key);
}

struct run_of {
    size_t from, to, depth;
};

/*
 * Sorts all stacks by their key at one depth, then each run of equal keys at the
 * next. What input files hold is mostly sorted already: a span in order is not
 * sorted again. Spans wait in a list, as a stack may be deeper than ours.
 */
static void sort_stacks(struct collapse_stacks *st)
{
    size_t n = st->by_ids.used, nspans = 0, spans_alloc = 0;
    struct keyed *k = xcalloc(n, sizeof *k);
    struct run_of *spans = NULL;

    for (size_t i = 0; i < n; i++)
        k[i] = (struct keyed){0, (uint32_t)i};
    grow((void **)&spans, &spans_alloc, 1, sizeof *spans);
    if (n > 1)
        spans[nspans++] = (struct run_of){0, n, 0};
    while (nspans > 0) {
        struct run_of s = spans[--nspans];
        bool ordered = true, all_same = true;

        /* A run that goes on together for long needs no list. */
        do {
            for (size_t i = s.from; i < s.to; i++) {
                k[i].key = key_at(st, k[i].stack, s.depth);
                if (i > s.from && k[i].key != k[i - 1].key) {
                    all_same = false;
                    ordered &= k[i].key > k[i - 1].key;
                }
            }
            s.depth++;
        } while (all_same && s.to - s.from > 1);
        if (!ordered)
            qsort(k + s.from, s.to - s.from, sizeof *k, compare_keys);
        for (size_t i = s.from, j; i < s.to; i = j) {
            for (j = i + 1; j < s.to && k[j].key == k[i].key; j++)
                continue;
            if (j - i > 1) {
                grow((void **)&spans, &spans_alloc, nspans + 1, sizeof *spans);
                spans[nspans++] = (struct run_of){i, j, s.depth};
            }
        }
    }
    st->order = xcalloc(n, sizeof *st->order);
    for (size_t i = 0; i < n; i++)
        st->order[i] = k[i].stack;
    free(k);
    free(spans);
}

void collapse_stacks_sort(struct collapse_stacks *st)
{
    if (st->sorted)
        return;
    st->sorted = true;
    free(st->by_ids.slots);
    free(st->by_name.slots);
    st->by_ids.slots = st->by_name.slots = NULL;
    rank_names(st);
    for (size_t i = 0; i < st->by_ids.used; i++) {
        const struct stack *s = &st->stacks[i];

        for (uint32_t k = 0; k < s->n; k++)
            st->pool[s->at + k] = st->ranks[st->pool[s->at + k] * 2 + (k + 1 < s->n)];
    }
    sort_stacks(st);
}

void collapse_stacks_get(const struct collapse_stacks *st, size_t i, struct collapse_stack *out)
{
    uint32_t id = st->order ? st->order[i] : (uint32_t)i;
    const struct stack *s = &st->stacks[id];

    out->ids = s->n ? st->pool + s->at : NULL;
    out->n = s->n;
    out->count = s->count;
    out->has_first = !st->second || (st->columns[id] & 1);
    out->has_second = st->second && (st->columns[id] & 2);
    out->second = out->has_second ? st->second[id] : (struct collapse_count){0, 0};
}

uint32_t collapse_stacks_frame(const struct collapse_stacks *st, const struct collapse_stack *s,
                               size_t k)
{
    return st->unrank ? st->unrank[s->ids[k]] : s->ids[k];
}

void collapse_stacks_line(const struct collapse_stacks *st, const struct collapse_stack *s,
                          struct strbuf *sb)
{
    size_t len = s->n;
    char *to;

    for (size_t k = 0; k < s->n; k++)
        len += st->names[st->unrank[s->ids[k]]].len;
    strbuf_grow(sb, len);
    to = sb->buf + sb->len;
    for (size_t k = 0; k < s->n; k++) {
        const struct name *nm = &st->names[st->unrank[s->ids[k]]];

        if (k)
            *to++ = ';';
        memcpy(to, st->arena.buf + nm->at, nm->len);
        to += nm->len;
    }
    strbuf_setlen(sb, (size_t)(to - sb->buf));
}
