/*
 * Problem: a busy server sleeps a hundred thousand times a second, for days. It is not known which
 * of its waits the user will ask for; the file must stay small; and the tracer may be killed at any
 * moment.
 *
 * Algorithm: records of equal room in the mapped file, listed here in the order of time. The last
 * one is being filled. When all room is taken, a group of neighbours, enough to fill GROUP records,
 * is read. Its short waits are added up to sums, and the result is written into spare records. Then
 * one store each makes the old records spares, and the new ones valid. `sweep` goes from the oldest
 * records to the youngest and begins again. Where that does not free a record, waits of four times
 * the length count as short from then on. So each wait is read a few times in all, some thousand of
 * them at a time, and old data is not much coarser than new data.
 *
 * With keep_ns, a record whose last entry is too old becomes a spare when the next record begins.
 * So the file grows to the waits of that time, and no further.
 *
 * Rejected: going through the whole log when it is full, because that takes a second in which
 * threads are stopped. Rejected: keeping only the longest waits of all, because the rest of a
 * thread's time would look as if it had run.
 */
#include "tracer/output/intervallog.h"

#include <stdlib.h>

#include "common/alloc.h"

/* Bytes of entries in a record; four records fill a segment. The first ones have less. */
#define RECORD_BYTES (((size_t)16 << 10) - 64)
#define FIRST_BYTES ((size_t)1 << 10)
#define GROUP 4u
#define SPARE_BYTES (2 * GROUP * (RECORD_BYTES + sizeof(struct trace_intervals)))
#define SHORTEST_NS 4000u
#define STEP 4u

struct record {
    struct trace_intervals *head; /* in the mapped file */
    uint32_t room, bytes;         /* of entries, and those in use; not read from the file again */
    uint64_t until;               /* end of its latest entry */
    uint64_t ns;                  /* sum of its entries */
};

struct intervallog {
    struct trace_writer *w;
    uint64_t most, taken;
    bool full; /* the file cannot grow */
    struct record *records;
    size_t n, room; /* the last one is being filled */
    unsigned small; /* number of records so far that are smaller than RECORD_BYTES */
    struct record *spares;
    size_t nspares, spares_room;
    uint64_t before;   /* end of the last entry */
    size_t sweep;      /* index: earlier records have been shortened */
    uint64_t short_ns; /* shorter waits go into sums; 0: none has yet */
    uint64_t lost_ns;
    uint64_t keep_ns;   /* 0: all is kept */
    uint64_t frozen_ns; /* what began then or later is left out; 0: nothing is */
    uint64_t old_ns;
    struct trace_interval *list; /* entries of the group that is being shortened */
    size_t nlist, list_room;
};

static uint8_t *entries(const struct record *r)
{
    return (uint8_t *)(r->head + 1);
}

static bool new_record(struct intervallog *l, size_t bytes, struct record *out)
{
    static const uint8_t zeros[RECORD_BYTES];
    const struct trace_intervals head = {.base_ns = 0};
    void *at = l->full ? NULL
                       : trace_writer_meta(l->w, TRACE_META_INTERVALS, &head, sizeof head, zeros,
                                           bytes, NULL);

    if (!at) {
        l->full = true;
        return false;
    }
    l->taken += sizeof head + bytes;
    *out = (struct record){.head = at, .room = (uint32_t)bytes};
    return true;
}

struct intervallog *intervallog_new(struct trace_writer *w, uint64_t most, uint64_t keep_ns)
{
    struct intervallog *l = xcalloc(1, sizeof *l);

    l->w = w;
    l->keep_ns = keep_ns;
    l->most = (most < INTERVALLOG_LEAST ? INTERVALLOG_LEAST : most) - SPARE_BYTES;
    return l;
}

void intervallog_free(struct intervallog *l)
{
    if (!l)
        return;
    free(l->records);
    free(l->spares);
    free(l->list);
    free(l);
}

struct intervallog_facts intervallog_facts(const struct intervallog *l)
{
    return (struct intervallog_facts){
        .bytes = l->taken, .short_ns = l->short_ns, .lost_ns = l->lost_ns, .old_ns = l->old_ns};
}

/* ---- records ---- */

static void set_state(struct record *r, uint32_t state)
{
    __atomic_store_n(&r->head->state, state, __ATOMIC_RELEASE);
}

/* Makes a record empty, and invalid for readers. */
static void clear(const struct intervallog *l, struct record *r, uint64_t base, uint64_t short_ns)
{
    set_state(r, TRACE_INTERVALS_SPARE);
    r->head->base_ns = base;
    r->head->short_ns = short_ns;
    r->head->lost_ns = l->lost_ns + l->old_ns;
    r->head->bytes = r->bytes = 0;
    r->until = r->ns = 0;
}

/* Appends the entry. False: there is no room. */
static bool put(struct record *r, const struct trace_interval *i, uint64_t *before)
{
    uint8_t text[TRACE_INTERVAL_BYTES];
    uint64_t end = *before;
    size_t len = (size_t)(trace_interval_put(text, i, &end) - text);

    if (len > r->room - r->bytes)
        return false;
    memcpy(entries(r) + r->bytes, text, len);
    r->bytes += (uint32_t)len;
    __atomic_store_n(&r->head->bytes, r->bytes, __ATOMIC_RELEASE);
    r->until = i->end_ns > r->until ? i->end_ns : r->until;
    r->ns += i->ns;
    *before = end;
    return true;
}

static void lose(struct intervallog *l, const struct trace_interval *i)
{
    l->lost_ns += i->ns;
    if (l->n)
        l->records[l->n - 1].head->lost_ns = l->lost_ns + l->old_ns;
}

/* ---- making room ---- */

static void add_spare(struct intervallog *l, const struct record *r)
{
    GROW(l->spares, l->nspares, l->spares_room);
    l->spares[l->nspares++] = *r;
}

/* Number of records from `first` on whose entries fill GROUP records. The record that is being
 * filled is not among them. */
static size_t group_size(const struct intervallog *l, size_t first)
{
    size_t n = 0, bytes = 0;

    while (first + n < l->n && bytes + l->records[first + n].bytes <= GROUP * RECORD_BYTES)
        bytes += l->records[first + n++].bytes;
    return n;
}

static void read_group(struct intervallog *l, size_t first, size_t n)
{
    l->nlist = 0;
    for (size_t i = first; i < first + n; i++) {
        const struct record *r = &l->records[i];
        const uint8_t *at = entries(r), *end = at + r->bytes;
        uint64_t before = r->head->base_ns;

        while (at < end) {
            GROW(l->list, l->nlist, l->list_room);
            if (!trace_interval_take(&at, end, &l->list[l->nlist], &before))
                break;
            l->nlist++;
        }
    }
}

/* Writes the list into spares, and sets *used to their number. False: more than `most` would be
 * needed. */
static bool write_list(struct intervallog *l, size_t most, size_t *used)
{
    uint64_t before = 0;

    *used = 0;
    for (size_t i = 0; i < l->nlist;) {
        if (*used == 0 || !put(&l->spares[*used - 1], &l->list[i], &before)) {
            if (*used == most)
                return false;
            before = l->list[i].begin_ns;
            clear(l, &l->spares[(*used)++], before, l->short_ns);
        } else {
            i++;
        }
    }
    return true;
}

/* Replaces the group's records by the first `used` spares. The old ones become spares, unless they
 * are short records. */
static void exchange(struct intervallog *l, size_t first, size_t n, size_t used)
{
    for (size_t i = first; i < first + n; i++)
        set_state(&l->records[i], TRACE_INTERVALS_SPARE);
    for (size_t i = first; i < first + n; i++)
        if (l->records[i].room == RECORD_BYTES)
            add_spare(l, &l->records[i]);
    for (size_t i = 0; i < used; i++) {
        set_state(&l->spares[i], TRACE_INTERVALS_USED);
        l->records[first + i] = l->spares[i];
    }
    memmove(l->records + first + used, l->records + first + n,
            (l->n - first - n) * sizeof *l->records);
    l->n -= n - used;
    l->nspares -= used;
    memmove(l->spares, l->spares + used, l->nspares * sizeof *l->spares);
}

/* Makes the group at least one record shorter; entries that cannot be merged are lost. */
static void shorten(struct intervallog *l, size_t first, size_t n)
{
    size_t most = n - 1 < GROUP ? n - 1 : GROUP, used;

    read_group(l, first, n);
    for (;; l->short_ns *= STEP) {
        l->nlist = trace_intervals_merge(l->list, l->nlist, l->short_ns,
                                         trace_intervals_window(l->short_ns));
        if (write_list(l, most, &used))
            break;
        if (l->short_ns > UINT64_MAX / STEP) { /* all are of different rows */
            for (size_t some = l->nlist / 64 + 1; some && l->nlist; some--)
                lose(l, &l->list[--l->nlist]);
            l->short_ns /= STEP;
        }
    }
    exchange(l, first, n, used);
    l->sweep = first + used;
}

/* Gets the spares for a group, from the room that is reserved for them. */
static bool get_spares(struct intervallog *l)
{
    struct record r;

    while (l->nspares < GROUP) {
        if (!new_record(l, RECORD_BYTES, &r))
            return false;
        add_spare(l, &r);
    }
    return true;
}

static bool make_room(struct intervallog *l)
{
    size_t n = group_size(l, l->sweep);

    if (l->sweep + n >= l->n) { /* no group is left */
        l->sweep = 0;
        n = group_size(l, 0);
    }
    if (n < 2 || !get_spares(l))
        return false;
    if (!l->short_ns)
        l->short_ns = SHORTEST_NS;
    shorten(l, l->sweep, n);
    return true;
}

/* Makes the oldest records spares if all their entries ended `keep_ns` or more before `now`. */
static void drop_old(struct intervallog *l, uint64_t now)
{
    size_t n = 0;

    while (n + 1 < l->n && l->records[n].until < now && now - l->records[n].until >= l->keep_ns) {
        set_state(&l->records[n], TRACE_INTERVALS_SPARE);
        l->old_ns += l->records[n].ns;
        if (l->records[n].room == RECORD_BYTES)
            add_spare(l, &l->records[n]);
        n++;
    }
    if (!n)
        return;
    memmove(l->records, l->records + n, (l->n - n) * sizeof *l->records);
    l->n -= n;
    l->sweep = l->sweep > n ? l->sweep - n : 0;
}

/* Begins the next record to fill. */
static bool begin_record(struct intervallog *l, uint64_t base)
{
    size_t bytes = FIRST_BYTES << l->small;
    struct record r;

    if (l->keep_ns && !l->frozen_ns)
        drop_old(l, base);

    if (bytes >= RECORD_BYTES)
        bytes = RECORD_BYTES;
    /* The spares of a group are reserved for the next group. */
    if (l->nspares > GROUP)
        r = l->spares[--l->nspares];
    else if (l->taken + bytes <= l->most && new_record(l, bytes, &r))
        l->small += bytes < RECORD_BYTES;
    else if (make_room(l) && l->nspares)
        r = l->spares[--l->nspares];
    else
        return false;
    clear(l, &r, base, 0);
    set_state(&r, TRACE_INTERVALS_USED);
    GROW(l->records, l->n, l->room);
    l->records[l->n++] = r;
    l->before = base;
    return true;
}

void intervallog_freeze(struct intervallog *l, uint64_t now)
{
    l->frozen_ns = now;
}

void intervallog_add(struct intervallog *l, const struct trace_interval *i)
{
    if (unlikely(l->frozen_ns) && i->begin_ns >= l->frozen_ns) {
        l->old_ns += i->ns;
        return;
    }
    if (l->n && put(&l->records[l->n - 1], i, &l->before))
        return;
    if (!begin_record(l, i->begin_ns) || !put(&l->records[l->n - 1], i, &l->before))
        lose(l, i);
}
