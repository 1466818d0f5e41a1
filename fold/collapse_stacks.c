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
#include "fold/collapse_stacks.h"

#include <stdlib.h>

#include "fold/collapse_hash.h"
#include "fold/collapse_scan.h"
#include "fold/collapse_stacks_impl.h"

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
    hashslots_init(&st->by_name, 1024);
    hashslots_init(&st->by_ids, 1024);
    return st;
}

void collapse_stacks_free(struct collapse_stacks *st)
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

static uint32_t find_name(struct collapse_stacks *st, const char *name, size_t len, uint32_t hash)
{
    struct hashslots *h = &st->by_name;
    uint32_t id;

    for (size_t i = hashslots_first(h, hash); hashslots_at(h, i, &id); i = hashslots_next(h, i)) {
        const struct name *nm = &st->names[id];

        if (hashslots_may_be(h, i, hash) && nm->len == len &&
            collapse_same(st->arena.buf + nm->at, name, len))
            return id;
    }
    grow((void **)&st->names, &st->names_alloc, st->nnames + 1, sizeof *st->names);
    id = (uint32_t)st->nnames++;
    st->names[id] = (struct name){st->arena.len, (uint32_t)len};
    strbuf_add(&st->arena, name, len);
    strbuf_grow(&st->arena, COLLAPSE_SLACK);
    hashslots_add(h, hash, id);
    return id;
}

uint32_t collapse_stacks_name(struct collapse_stacks *st, const char *name, size_t len)
{
    uint32_t hash;
    size_t unused;

    if (st->strip) {
        strip_addresses(&st->stripped, name, len);
        name = st->stripped.buf;
        len = st->stripped.len;
    }
    hash = (uint32_t)collapse_hash_until(name, len, ';', st->seed, &unused);
    return find_name(st, name, len, hash);
}

size_t collapse_stacks_split(struct collapse_stacks *st, const char *s, size_t len,
                             uint32_t ids[COLLAPSE_SPLIT], size_t ends[COLLAPSE_SPLIT])
{
    uint32_t hashes[COLLAPSE_SPLIT], id;
    size_t n = 0, from = 0;

    do {
        hashes[n] = (uint32_t)collapse_hash_until(s + from, len - from, ';', st->seed, &ends[n]);
        ends[n] += from;
        __builtin_prefetch(&st->by_name.slots[hashslots_first(&st->by_name, hashes[n])]);
        from = ends[n++] + 1;
    } while (n < COLLAPSE_SPLIT && from <= len);
    /* By now the slots have come; what they point at is next. */
    for (size_t i = 0; i < n; i++)
        if (hashslots_at(&st->by_name, hashslots_first(&st->by_name, hashes[i]), &id))
            __builtin_prefetch(&st->names[id]);
    for (size_t i = 0; i < n; i++)
        if (hashslots_at(&st->by_name, hashslots_first(&st->by_name, hashes[i]), &id))
            __builtin_prefetch(st->arena.buf + st->names[id].at);
    for (size_t i = 0; i < n; i++) {
        from = i ? ends[i - 1] + 1 : 0;
        ids[i] = st->strip ? collapse_stacks_name(st, s + from, ends[i] - from)
                           : find_name(st, s + from, ends[i] - from, hashes[i]);
    }
    return n;
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
    return st->nstacks;
}

size_t collapse_stacks_names(const struct collapse_stacks *st)
{
    return st->nnames;
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
    for (size_t i = 0; i < st->nstacks; i++) {
        collapse_count_add(&sum[0], &st->stacks[i].count);
        collapse_count_add(&sum[1], &st->second[i]);
    }
    a = collapse_count_number(&sum[0]);
    b = collapse_count_number(&sum[1]);
    if (a == b || a == 0)
        return;
    for (size_t i = 0; i < st->nstacks; i++) {
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
    struct hashslots *h = &st->by_ids;
    uint32_t id;

    for (size_t i = hashslots_first(h, hash); hashslots_at(h, i, &id); i = hashslots_next(h, i)) {
        const struct stack *s = &st->stacks[id];

        if (hashslots_may_be(h, i, hash) && s->n == n &&
            (n == 0 || memcmp(st->pool + s->at, ids, n * sizeof *ids) == 0))
            return id;
    }
    grow((void **)&st->stacks, &st->stacks_alloc, st->nstacks + 1, sizeof *st->stacks);
    grow((void **)&st->pool, &st->pool_alloc, st->pool_len + n, sizeof *st->pool);
    id = (uint32_t)st->nstacks++;
    st->stacks[id] = (struct stack){st->pool_len, (uint32_t)n, {0, 0}};
    if (n)
        memcpy(st->pool + st->pool_len, ids, n * sizeof *ids);
    st->pool_len += n;
    hashslots_add(h, hash, id);
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
        memset(st->columns, 1, st->nstacks);
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
