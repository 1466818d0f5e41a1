/*
 * The order of stacks.
 *
 * Folded lines sort by their bytes, where ';' is a byte like others: "a!;b" comes
 * before "a;b". So each name has two ranks, one as "name;" and one as "name" at the
 * end, from one sort of both kinds. Two stacks compare as their ranks do, number by
 * number. Ids are replaced by ranks before the sort.
 */
#include <stdlib.h>

#include "common/alloc.h"
#include "fold/stacks/stackset_impl.h"

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

void stackset_rank(struct stackset *st)
{
    size_t n = st->nnames;
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
    st->ranked = n;
    free(st->ranks);
    st->ranks = xcalloc(2 * n, sizeof *st->ranks);
    for (size_t i = 0; i < 2 * n; i++)
        st->ranks[ends[i].which] = (uint32_t)i;
    free(ends);
}

/* The rank at depth d, plus one; 0 beyond the leaf. */
static uint32_t key_at(const struct stackset *st, uint32_t stack, size_t d)
{
    const struct stack *s = &st->stacks[stack];

    return d < s->n ? st->ranks[st->pool[s->at + d] * 2 + (d + 1 < s->n)] + 1 : 0;
}

/* A stack's key at the depth in question, above its number. */
static uint32_t stack_of(uint64_t keyed)
{
    return (uint32_t)keyed;
}

static uint32_t key_of(uint64_t keyed)
{
    return (uint32_t)(keyed >> 32);
}

/* Few by insertion, many by the bytes of their keys, from the least on. */
static void sort_by_key(uint64_t *k, size_t n, uint64_t *spare)
{
    uint64_t differ = 0;

    if (n <= 32) {
        for (size_t i = 1, j; i < n; i++) {
            uint64_t v = k[i];

            for (j = i; j > 0 && k[j - 1] > v; j--)
                k[j] = k[j - 1];
            k[j] = v;
        }
        return;
    }
    for (size_t i = 1; i < n; i++)
        differ |= k[i] ^ k[0];
    for (unsigned shift = 32; shift < 64; shift += 8) {
        size_t starts[256] = {0}, at = 0;

        if (!(differ >> shift & 0xff))
            continue;
        for (size_t i = 0; i < n; i++)
            starts[k[i] >> shift & 0xff]++;
        for (size_t i = 0; i < 256; i++) {
            size_t count = starts[i];

            starts[i] = at;
            at += count;
        }
        for (size_t i = 0; i < n; i++)
            spare[starts[k[i] >> shift & 0xff]++] = k[i];
        memcpy(k, spare, n * sizeof *k);
    }
}

struct run_of {
    size_t from, to, depth;
};

struct runs {
    struct run_of *run;
    size_t n, alloc;
};

static void add_run(struct runs *r, size_t from, size_t to, size_t depth)
{
    GROW(r->run, r->n, r->alloc);
    r->run[r->n++] = (struct run_of){from, to, depth};
}

/*
 * Sorts all stacks by their key at one depth, then each run of equal keys at the next. Input
 * files are mostly sorted already: a span in order is not sorted again. Spans wait in a list, as
 * a stack may be deeper than the C stack allows.
 */
static void sort_stacks(struct stackset *st)
{
    size_t n = st->nstacks;
    uint64_t *k = xcalloc(n, sizeof *k), *spare = xcalloc(n, sizeof *spare);
    struct runs spans = {NULL, 0, 0};

    for (size_t i = 0; i < n; i++)
        k[i] = i;
    if (n > 1)
        add_run(&spans, 0, n, 0);
    while (spans.n > 0) {
        struct run_of s = spans.run[--spans.n];
        bool ordered = true, all_same = true;

        /* A run of equal keys over many depths needs no list. */
        do {
            for (size_t i = s.from; i < s.to; i++) {
                k[i] = (uint64_t)key_at(st, stack_of(k[i]), s.depth) << 32 | stack_of(k[i]);
                if (i > s.from && key_of(k[i]) != key_of(k[i - 1])) {
                    all_same = false;
                    ordered &= key_of(k[i]) > key_of(k[i - 1]);
                }
            }
            s.depth++;
        } while (all_same && s.to - s.from > 1);
        if (!ordered)
            sort_by_key(k + s.from, s.to - s.from, spare);
        for (size_t i = s.from, j; i < s.to; i = j) {
            for (j = i + 1; j < s.to && key_of(k[j]) == key_of(k[i]); j++)
                continue;
            if (j - i > 1)
                add_run(&spans, i, j, s.depth);
        }
    }
    st->order = xcalloc(n, sizeof *st->order);
    for (size_t i = 0; i < n; i++)
        st->order[i] = stack_of(k[i]);
    free(k);
    free(spare);
    free(spans.run);
}

void stackset_sort(struct stackset *st)
{
    if (st->sorted)
        return;
    st->sorted = true;
    hashslots_release(&st->by_ids);
    hashslots_release(&st->by_name);
    if (st->ranked < st->nnames || !st->ranks)
        stackset_rank(st);
    sort_stacks(st);
}

void stackset_get(const struct stackset *st, size_t i, struct stackset_stack *out)
{
    uint32_t id = st->order ? st->order[i] : (uint32_t)i;
    const struct stack *s = &st->stacks[id];

    out->ids = s->n ? st->pool + s->at : NULL;
    out->n = s->n;
    out->count = s->count;
    out->has_first = !st->second || (st->columns[id] & 1);
    out->has_second = st->second && (st->columns[id] & 2);
    out->second = out->has_second ? st->second[id] : (struct stackset_count){0, 0};
}

void stackset_line_set(struct stackset_line *line, const struct stackset *st, size_t i)
{
    const struct stack *s = &st->stacks[st->order ? st->order[i] : i];
    const uint32_t *ids, *before;
    size_t same = 0;

    if (s->n == 0) {
        strbuf_clear(&line->text);
        line->n = 0;
        return;
    }
    ids = st->pool + s->at;
    before = st->pool + line->at;
    while (same < line->n && same < s->n && ids[same] == before[same])
        same++;
    GROW_TO(line->ends, s->n, line->alloc);
    strbuf_setlen(&line->text, same ? line->ends[same - 1] : 0);
    for (size_t k = same; k < s->n; k++) {
        const struct name *nm = &st->names[ids[k]];
        char *to;

        if (line->text.alloc < line->text.len + nm->len + 2 + NAME_SLACK)
            strbuf_grow(&line->text, (size_t)nm->len + 1 + NAME_SLACK);
        to = line->text.buf + line->text.len;
        if (k)
            *to++ = ';';
        /* Sixteen bytes at a time, some too many: the calls are what memcpy costs here. */
        for (size_t at = 0; at < nm->len; at += NAME_SLACK)
            memcpy(to + at, st->arena.buf + nm->at + at, NAME_SLACK);
        line->text.len = (size_t)(to - line->text.buf) + nm->len;
        line->ends[k] = line->text.len;
    }
    strbuf_setlen(&line->text, line->text.len);
    line->at = s->at;
    line->n = s->n;
}

void stackset_line_release(struct stackset_line *line)
{
    strbuf_release(&line->text);
    free(line->ends);
    *line = (struct stackset_line)STACKSET_LINE_INIT;
}
