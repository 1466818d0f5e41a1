/*
 * Interned names, whole stacks as arrays of their ids, one sum a stack.
 *
 * Problem: hundreds of megabytes of samples, mostly the same stacks over and
 * over, must become sorted folded lines; at worst a million different stacks,
 * whose text is a gigabyte. A stack held as ids takes a tenth of its text, is
 * found by one hash over a few hundred bytes, and never touches its names.
 *
 * Rejected: a tree of frames. It shares the roots, but finding a stack is one
 * lookup a frame instead of one a stack, and a node with its table slot costs
 * more than the ids it saves until stacks share most of their frames. And a
 * table of folded strings, as the scripts in common use have it: ten times the
 * memory, and every sample builds its string before it can be looked up.
 */
#include "fold/stacks/stackset.h"

#include <stdlib.h>

#include "common/alloc.h"
#include "fold/stacks/texthash.h"
#include "fold/stacks/span.h"
#include "fold/stacks/stackset_impl.h"

struct stackset *stackset_new(void)
{
    struct stackset *st = xcalloc(1, sizeof *st);

    st->arena = st->stripped = (struct strbuf)STRBUF_INIT;
    st->seed = texthash_seed();
    hashslots_init(&st->by_name, 1024);
    hashslots_init(&st->by_ids, 1024);
    return st;
}

void stackset_free(struct stackset *st)
{
    if (!st)
        return;
    strbuf_release(&st->arena);
    strbuf_release(&st->stripped);
    free(st->names);
    hashslots_release(&st->by_name);
    free(st->pool);
    free(st->stacks);
    hashslots_release(&st->by_ids);
    free(st->second);
    free(st->columns);
    free(st->ranks);
    free(st->order);
    free(st);
}

struct stackset *stackset_new_named(const struct stackset *st)
{
    struct stackset *named = stackset_new();

    for (size_t i = 0; i < st->nnames; i++)
        stackset_name(named, st->arena.buf + st->names[i].at, st->names[i].len);
    named->strip = st->strip;
    return named;
}

/* Bytes that sorting adds (stackset_order.c): two ends and ranks a name; two keys and its place
 * a stack. */
enum { SORTING_A_NAME = 2 * (24 + 4), SORTING_A_STACK = 2 * 8 + 4 };

/* Counts the used part of what was allocated: the rest takes no memory until it is touched. */
void stackset_bytes(const struct stackset *st, size_t *names, size_t *stacks)
{
    *names = st->arena.len + st->nnames * (sizeof *st->names + SORTING_A_NAME) +
             (st->by_name.mask + 1) * sizeof *st->by_name.slots;
    *stacks = st->pool_len * sizeof *st->pool +
              st->nstacks * (sizeof *st->stacks + SORTING_A_STACK) +
              (st->by_ids.mask + 1) * sizeof *st->by_ids.slots;
    if (st->second)
        *stacks += st->nstacks * (sizeof *st->second + 1);
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

static uint32_t find_name(struct stackset *st, const char *name, size_t len, uint32_t hash)
{
    struct hashslots *h = &st->by_name;
    uint32_t id;

    for (size_t i = hashslots_first(h, hash); hashslots_at(h, i, &id); i = hashslots_next(h, i)) {
        const struct name *nm = &st->names[id];

        if (hashslots_may_be(h, i, hash) && nm->len == len &&
            texthash_same(st->arena.buf + nm->at, name, len))
            return id;
    }
    GROW(st->names, st->nnames, st->names_alloc);
    id = (uint32_t)st->nnames++;
    st->names[id] = (struct name){st->arena.len, (uint32_t)len};
    strbuf_add(&st->arena, name, len);
    strbuf_grow(&st->arena, NAME_SLACK);
    hashslots_add(h, hash, id);
    return id;
}

uint32_t stackset_name(struct stackset *st, const char *name, size_t len)
{
    uint32_t hash;
    size_t unused;

    if (st->strip) {
        strip_addresses(&st->stripped, name, len);
        name = st->stripped.buf;
        len = st->stripped.len;
    }
    hash = (uint32_t)texthash_until(name, len, ';', st->seed, &unused);
    return find_name(st, name, len, hash);
}

size_t stackset_split(struct stackset *st, const char *s, size_t len, uint32_t ids[STACKSET_SPLIT],
                      size_t ends[STACKSET_SPLIT])
{
    uint32_t hashes[STACKSET_SPLIT], id;
    size_t n = 0, from = 0;

    do {
        hashes[n] = (uint32_t)texthash_until(s + from, len - from, ';', st->seed, &ends[n]);
        ends[n] += from;
        __builtin_prefetch(&st->by_name.slots[hashslots_first(&st->by_name, hashes[n])]);
        from = ends[n++] + 1;
    } while (n < STACKSET_SPLIT && from <= len);
    /* By now the slots are in the cache; the names that they refer to are next. */
    for (size_t i = 0; i < n; i++)
        if (hashslots_at(&st->by_name, hashslots_first(&st->by_name, hashes[i]), &id))
            __builtin_prefetch(&st->names[id]);
    for (size_t i = 0; i < n; i++)
        if (hashslots_at(&st->by_name, hashslots_first(&st->by_name, hashes[i]), &id))
            __builtin_prefetch(st->arena.buf + st->names[id].at);
    for (size_t i = 0; i < n; i++) {
        from = i ? ends[i - 1] + 1 : 0;
        ids[i] = st->strip ? stackset_name(st, s + from, ends[i] - from)
                           : find_name(st, s + from, ends[i] - from, hashes[i]);
    }
    return n;
}

const char *stackset_text(const struct stackset *st, uint32_t id, size_t *len)
{
    *len = st->names[id].len;
    return st->arena.buf + st->names[id].at;
}

bool stackset_is_empty(const struct stackset *st, uint32_t id)
{
    return st->names[id].len == 0;
}

size_t stackset_len(const struct stackset *st)
{
    return st->nstacks;
}

size_t stackset_names(const struct stackset *st)
{
    return st->nnames;
}

void stackset_strip(struct stackset *st, bool strip)
{
    st->strip = strip;
}

static int compare_counts(const struct stackset_count *a, const struct stackset_count *b)
{
    if (a->whole != b->whole)
        return a->whole < b->whole ? -1 : 1;
    return (a->part > b->part) - (a->part < b->part);
}

/* Scales a whole number exactly, rounded down to parts. */
static struct stackset_count scale_whole(uint64_t whole, uint64_t by, uint64_t to)
{
    unsigned __int128 product = (unsigned __int128)whole * by;
    uint64_t left = (uint64_t)(product % to);

    return (struct stackset_count){(uint64_t)(product / to),
                                   (uint64_t)((unsigned __int128)left * STACKSET_PART / to)};
}

/* Scales with the precision of a long double. */
static struct stackset_count scale(const struct stackset_count *c, long double by)
{
    long double scaled = stackset_count_number(c) * by, part;
    uint64_t whole;

    if (scaled >= 0x1p64L)
        return (struct stackset_count){UINT64_MAX, 0};
    whole = (uint64_t)scaled;
    part = (scaled - (long double)whole) * STACKSET_PART;
    return (struct stackset_count){whole,
                                   part < STACKSET_PART ? (uint64_t)part : STACKSET_PART - 1};
}

/* Adds the rest that rounding has lost, at most a part for each stack, to the largest stack. */
static void add_rest(struct stackset *st, const struct stackset_count *sum,
                     const struct stackset_count *scaled)
{
    struct stackset_count rest = {sum->whole - scaled->whole - (sum->part < scaled->part),
                                  sum->part - scaled->part};
    size_t largest = 0;

    if (compare_counts(scaled, sum) >= 0)
        return;
    if (sum->part < scaled->part)
        rest.part += STACKSET_PART;
    for (size_t i = 1; i < st->nstacks; i++)
        if (compare_counts(&st->stacks[i].count, &st->stacks[largest].count) > 0)
            largest = i;
    stackset_count_add(&st->stacks[largest].count, &rest);
}

void stackset_normalize(struct stackset *st, bool whole)
{
    struct stackset_count sum[2] = {{0, 0}, {0, 0}}, scaled = {0, 0};
    bool exact;

    if (!st->second)
        return;
    for (size_t i = 0; i < st->nstacks; i++) {
        stackset_count_add(&sum[0], &st->stacks[i].count);
        stackset_count_add(&sum[1], &st->second[i]);
    }
    if (!stackset_count_number(&sum[0]) || compare_counts(&sum[0], &sum[1]) == 0)
        return;
    exact = !sum[0].part && !sum[1].part && sum[0].whole < UINT64_MAX && sum[1].whole < UINT64_MAX;
    for (size_t i = 0; i < st->nstacks; i++) {
        struct stackset_count *c = &st->stacks[i].count;

        *c = exact && !c->part
                 ? scale_whole(c->whole, sum[1].whole, sum[0].whole)
                 : scale(c, stackset_count_number(&sum[1]) / stackset_count_number(&sum[0]));
        if (whole)
            c->part = 0;
        stackset_count_add(&scaled, c);
    }
    if (!whole)
        add_rest(st, &sum[1], &scaled);
}

bool stackset_two(const struct stackset *st)
{
    return st->second != NULL;
}

uint32_t stackset_find(struct stackset *st, const uint32_t *ids, size_t n)
{
    uint32_t hash = (uint32_t)texthash(ids, n * sizeof *ids, st->seed);
    struct hashslots *h = &st->by_ids;
    uint32_t id;

    for (size_t i = hashslots_first(h, hash); hashslots_at(h, i, &id); i = hashslots_next(h, i)) {
        const struct stack *s = &st->stacks[id];

        if (hashslots_may_be(h, i, hash) && s->n == n &&
            (n == 0 || memcmp(st->pool + s->at, ids, n * sizeof *ids) == 0))
            return id;
    }
    GROW(st->stacks, st->nstacks, st->stacks_alloc);
    GROW_TO(st->pool, st->pool_len + n, st->pool_alloc);
    id = (uint32_t)st->nstacks++;
    st->stacks[id] = (struct stack){st->pool_len, (uint32_t)n, {0, 0}};
    if (n)
        memcpy(st->pool + st->pool_len, ids, n * sizeof *ids);
    st->pool_len += n;
    hashslots_add(h, hash, id);
    return id;
}

/* Makes room for second columns; earlier stacks had the first only. */
static void two_columns(struct stackset *st)
{
    size_t old = st->second_alloc, need = st->stacks_alloc > 64 ? st->stacks_alloc : 64;

    if (need <= old)
        return;
    GROW_FILLED(st->second, need - 1, st->second_alloc, 0);
    GROW_FILLED(st->columns, need - 1, st->columns_alloc, 0);
    if (!old)
        memset(st->columns, 1, st->nstacks);
}

void stackset_want_two(struct stackset *st)
{
    if (!st->second)
        two_columns(st);
}

void stackset_add_to(struct stackset *st, uint32_t stack, const struct stackset_count *first,
                     const struct stackset_count *second)
{
    if (first)
        stackset_count_add(&st->stacks[stack].count, first);
    if (second && !st->second)
        two_columns(st);
    if (st->second) {
        two_columns(st);
        st->columns[stack] |= (unsigned char)((first ? 1 : 0) | (second ? 2 : 0));
        if (second)
            stackset_count_add(&st->second[stack], second);
    }
}

void stackset_add(struct stackset *st, const uint32_t *ids, size_t n,
                  const struct stackset_count *first, const struct stackset_count *second)
{
    /* Stacks added before the first with two columns have one. */
    if (second && !st->second)
        two_columns(st);
    stackset_add_to(st, stackset_find(st, ids, n), first, second);
}
