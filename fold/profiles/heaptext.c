/*
 * Profiles in the text form that gperftools began: heap profiles of gperftools' tcmalloc, of
 * jemalloc ("heap_v2/RATE") and of Go's runtime/pprof with debug=1, and Go's dumps of goroutines
 * and threads with debug=1.
 *
 *     heap profile: 60: 604170 [100: 1004950] @ heapprofile
 *     60: 604170 [100: 1004950] @ 0x4b7194 0x4b7166
 *     #   0x4b7193  main.hold+0x453  /src/main.go:31     (Go alone)
 *
 *     heap_v2/524288                                     (jemalloc)
 *     @ 0x7fa2882a2630 0x7fa2882a2d21
 *       t*: 61: 696310 [0: 0]
 *
 * Described at https://gperftools.github.io/gperftools/heapprofile.html and, for jemalloc, by
 * prof_dump in its sources' documentation (opt.prof). Live objects and bytes are before the
 * brackets, all that were ever allocated inside. Addresses are return addresses, leaf first, so
 * the call is a byte before. /proc/PID/maps follows the records and gives addresses their names
 * (mapframes.h); Go writes names itself.
 *
 * Where one allocation in RATE bytes was sampled, counts are scaled up as pprof and jeprof do:
 * of n objects of `size` bytes in all, by 1 / (1 - exp(-(size / n) / RATE)).
 */
#include <math.h>
#include <stdlib.h>

#include "common/alloc.h"
#include "fold/collapse/located.h"
#include "fold/profiles/mapframes.h"
#include "fold/collapse/readers.h"

enum { VALUES = 4 };

static const char *const heap_types[VALUES] = {"inuse_space", "inuse_objects", "alloc_space",
                                               "alloc_objects"};

struct record {
    size_t first, n; /* in pool: addresses, or, with is_named, ids of frames; leaf first */
    bool is_named;
    uint64_t value;
};

struct heap {
    struct collapse *c;
    struct mapped *mapped;
    struct record *records;
    size_t nrecords, records_alloc;
    uint64_t *pool;
    size_t npool, pool_alloc;
    size_t type;
    uint64_t rate;     /* 0: nothing is scaled */
    bool counts_alone; /* Go's goroutines: "5 @ 0x..." */
    bool begun;        /* the header was seen */
    bool in_maps;
    bool at_stack; /* the last record still needs jemalloc's counts */
};

static bool take_hex(struct span s, uint64_t *out)
{
    *out = 0;
    s = span_from(s, span_begins(s, "0x") ? 2 : 0);
    if (s.len == 0 || s.len > 16 || span_hex(s) != s.len)
        return false;
    for (size_t i = 0; i < s.len; i++)
        *out =
            *out << 4 | (uint64_t)(is_digit_ch(s.s[i]) ? s.s[i] - '0' : (s.s[i] | 0x20) - 'a' + 10);
    return true;
}

static bool take_number(struct span *s, char end, uint64_t *out)
{
    struct stackset_count count;
    size_t n;

    *s = span_ltrim(*s);
    n = span_digits(*s);
    if (n == 0 || n >= s->len || s->s[n] != end || !stackset_count_parse(s->s, n, &count))
        return false;
    *out = count.whole;
    *s = span_from(*s, n + 1);
    return true;
}

/* Takes "60: 604170 [100: 1004950]" off *s, in the order of its numbers. */
static bool take_counts(struct span *s, uint64_t value[VALUES])
{
    if (!take_number(s, ':', &value[0]) || !take_number(s, ' ', &value[1]))
        return false;
    *s = span_ltrim(*s);
    if (!span_begins(*s, "["))
        return false;
    *s = span_from(*s, 1);
    return take_number(s, ':', &value[2]) && take_number(s, ']', &value[3]);
}

/* The wanted one of the four, scaled. */
static uint64_t pick(const struct heap *h, const uint64_t value[VALUES])
{
    size_t pair = h->type / 2 * 2;
    uint64_t objects = value[pair], bytes = value[pair + 1];
    uint64_t wanted = h->type % 2 ? objects : bytes;
    double scaled;

    if (h->rate <= 1 || objects == 0 || bytes == 0)
        return wanted;
    scaled = (double)wanted / -expm1(-((double)bytes / (double)objects) / (double)h->rate);
    return scaled < 1.8e19 ? (uint64_t)scaled : UINT64_MAX;
}

/* "@ 0x1 0x2": the addresses behind an '@'; false when one is none. */
static bool begin_record(struct heap *h, struct span rest, uint64_t value)
{
    struct record r = {.first = h->npool, .value = value};
    struct span word;
    uint64_t address;

    while ((word = span_next(&rest)).len) {
        if (!take_hex(word, &address)) {
            h->npool = r.first;
            return false;
        }
        GROW(h->pool, h->npool, h->pool_alloc);
        h->pool[h->npool++] = address ? address - 1 : 0;
    }
    r.n = h->npool - r.first;
    GROW(h->records, h->nrecords, h->records_alloc);
    h->records[h->nrecords++] = r;
    return true;
}

/* ---- headers ---- */

static void pick_type(struct heap *h)
{
    static const char *const count = "count";
    struct span types[VALUES];
    size_t n = h->counts_alone ? 1 : VALUES;

    for (size_t i = 0; i < n; i++)
        types[i] = span_of(h->counts_alone ? count : heap_types[i]);
    h->type = collapse_pick_type(h->c, types, n, 0);
    h->begun = true;
}

/* The rate in "heap_v2/RATE", or in Go's "heap/TWICE_RATE", given the text behind the slash. */
static uint64_t rate_of(struct span s)
{
    struct stackset_count rate = {0, 0};
    bool go = span_begins(s, "heap/");

    if (!go && !span_begins(s, "heap_v2/"))
        return 0;
    s = span_from(s, span_chr(s, '/') + 1);
    stackset_count_parse(s.s, span_digits(s), &rate);
    return go ? rate.whole / 2 : rate.whole;
}

static bool is_profile_of(struct span line, const char *what)
{
    return span_begins(line, what) && span_begins(span_from(line, strlen(what)), " profile: ");
}

static bool header(struct heap *h, struct span line)
{
    size_t at = span_rchr(line, '@');

    if (is_profile_of(line, "heap") && at != SIZE_MAX) {
        h->rate = rate_of(span_ltrim(span_from(line, at + 1)));
    } else if (span_begins(line, "heap_v2/")) {
        h->rate = rate_of(line);
    } else if (is_profile_of(line, "goroutine") || is_profile_of(line, "threadcreate")) {
        h->counts_alone = true;
    } else {
        return false;
    }
    pick_type(h);
    return true;
}

/* ---- records ---- */

/* "#\tADDRESS\tNAME+0xOFFSET\tFILE:LINE" of Go: a frame of the record before. */
static bool named_frame(struct heap *h, struct span line)
{
    struct record *r = h->nrecords ? &h->records[h->nrecords - 1] : NULL;
    struct span rest = span_from(line, 1), address = span_next(&rest), name = span_ltrim(rest);
    struct located l = {.line = 0};
    struct stackset_count number;
    uint64_t value;
    size_t tab = span_chr(name, '\t'), plus, colon;

    if (!r || !span_begins(address, "0x") || !take_hex(address, &value) || name.len == 0)
        return false;
    l.file = span_trim(span_from(name, tab == SIZE_MAX ? name.len : tab));
    name = span_to(name, tab);
    plus = span_rchr(name, '+');
    l.name =
        plus != SIZE_MAX && span_begins(span_from(name, plus), "+0x") ? span_to(name, plus) : name;
    colon = span_rchr(l.file, ':');
    if (colon != SIZE_MAX &&
        stackset_count_parse(l.file.s + colon + 1, l.file.len - colon - 1, &number)) {
        l.line = number.whole;
        l.file = span_to(l.file, colon);
    }
    if (!r->is_named) {
        h->npool = r->first;
        r->n = 0;
        r->is_named = true;
    }
    GROW(h->pool, h->npool, h->pool_alloc);
    h->pool[h->npool++] = collapse_located(h->c, &l);
    r->n++;
    return true;
}

/* jemalloc's "t*: 61: 696310 [0: 0]" behind its stack; those of single threads are in it. */
static bool thread_counts(struct heap *h, struct span line)
{
    uint64_t value[VALUES];
    size_t colon = span_chr(line, ':');

    if (!span_begins(line, "t") || colon == SIZE_MAX)
        return false;
    if (line.s[1] != '*' || !h->at_stack)
        return true; /* counts before the first stack are the sum of all */
    line = span_from(line, colon + 1);
    if (!take_counts(&line, value))
        return false;
    h->records[h->nrecords - 1].value = pick(h, value);
    h->at_stack = false;
    return true;
}

static bool record_line(struct heap *h, struct span line)
{
    uint64_t value[VALUES];

    if (h->counts_alone) {
        if (!take_number(&line, ' ', &value[0]))
            return false;
        value[1] = value[0];
    } else if (!take_counts(&line, value)) {
        return false;
    }
    line = span_ltrim(line);
    return span_begins(line, "@") &&
           begin_record(h, span_from(line, 1), h->counts_alone ? value[0] : pick(h, value));
}

/* False: not understood. */
static bool take_line(struct heap *h, struct span line)
{
    line = span_trim(line);
    if (line.len == 0 || (line.s[0] == '#' && line.len == 1))
        return true;
    if (line.s[0] == '#') {
        /* Labels and, at the end of Go's, numbers of the runtime are comments. */
        named_frame(h, line);
        return true;
    }
    if (span_is(line, "MAPPED_LIBRARIES:"))
        return h->in_maps = true;
    if (h->in_maps)
        return mapped_line(h->mapped, line);
    if (header(h, line))
        return true;
    if (!h->begun)
        return false;
    if (span_begins(line, "@"))
        return h->at_stack = begin_record(h, span_from(line, 1), 0);
    return thread_counts(h, line) || record_line(h, line);
}

static void add_record(struct heap *h, const struct record *r)
{
    const struct stackset_count count = {r->value, 0};

    for (size_t i = 0; i < r->n && r->value && !h->c->in.error; i++) {
        if (r->is_named)
            collapse_push_id(h->c, (uint32_t)h->pool[r->first + i]);
        else
            mapped_push(h->mapped, h->c, h->pool[r->first + i]);
    }
    if (h->c->n > 0 && !h->c->in.error)
        collapse_flush(h->c, LEAF_FIRST, &count);
    collapse_drop(h->c);
}

void collapse_heaptext_run(struct collapse *c)
{
    struct heap h = {.c = c, .mapped = mapped_new()};
    struct textrecord rec;

    while (textinput_record(&c->in, &rec))
        if (!take_line(&h, rec.line))
            collapse_unknown(c, rec.line.s, rec.line.len);
    for (size_t i = 0; i < h.nrecords && !c->in.error; i++)
        add_record(&h, &h.records[i]);
    collapse_drop(c);
    mapped_free(h.mapped);
    free(h.records);
    free(h.pool);
}

int collapse_heaptext_probe(const char *text, size_t len)
{
    struct span rest = {text, len}, line;

    if (!span_line(&rest, &line))
        return 0;
    if (span_begins(line, "heap_v2/") || (is_profile_of(line, "heap") && span_find(line, "@")) ||
        is_profile_of(line, "goroutine") || is_profile_of(line, "threadcreate"))
        return 95;
    return 0;
}
