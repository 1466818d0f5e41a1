/* Go: go tool pprof -raw, a profile as text. */
#include <stdlib.h>

#include "common/alloc.h"
#include "fold/collapse/readers.h"
#include "fold/stacks/span.h"

/*
 * Samples name their locations by number, and the locations come after them:
 *
 *     Samples:
 *     samples/count cpu/nanoseconds
 *              5   50000000: 1 2
 *     Locations
 *          1: 0x46c2a1 M=1 runtime.futex /go/src/runtime/sys.s:558 s=550
 *                          runtime.caller /go/src/... (the function it is inlined into)
 */
struct go {
    struct go_sample {
        size_t first, n;
        struct stackset_count count;
    } * samples;
    size_t nsamples, samples_alloc;
    uint64_t *places;
    size_t nplaces, places_alloc;
    struct go_place {
        uint64_t id;
        uint32_t name;
    } * names; /* in the order of the file, the inlined functions of a place behind it */
    size_t nnames, names_alloc;
};

/* "5   50000000: 1 2": the first number counts. */
static bool go_sample(struct go *g, struct span line)
{
    struct go_sample s = {g->nplaces, 0, {0, 0}};
    size_t colon = span_chr(line, ':');
    struct span values, word;

    if (colon == SIZE_MAX)
        return false;
    values = span_to(line, colon);
    word = span_next(&values);
    if (!stackset_count_parse(word.s, word.len, &s.count))
        return false;
    while ((word = span_next(&values)).len)
        if (span_digits(word) != word.len && !span_begins(word, "-"))
            return false;
    line = span_from(line, colon + 1);
    while ((word = span_next(&line)).len) {
        struct stackset_count id;

        if (!stackset_count_parse(word.s, word.len, &id) || id.part)
            return false;
        GROW(g->places, g->nplaces, g->places_alloc);
        g->places[g->nplaces++] = id.whole;
    }
    s.n = g->nplaces - s.first;
    if (s.n == 0)
        return false;
    GROW(g->samples, g->nsamples, g->samples_alloc);
    g->samples[g->nsamples++] = s;
    return true;
}

static void go_name(struct go *g, uint64_t id, uint32_t name)
{
    GROW(g->names, g->nnames, g->names_alloc);
    g->names[g->nnames++] = (struct go_place){id, name};
}

/* Offset of the last " s=LINE", behind which brackets may hold the name in the file. */
static size_t go_start_line(struct span s)
{
    for (size_t i = s.len; i-- > 0;)
        if (span_begins(span_from(s, i), " s=") && span_digits(span_from(s, i + 3)) > 0)
            return i;
    return s.len;
}

/*
 * "ns::f<a, b> /src/f.cc:12 s=3" is "ns::f<a, b>": names may have blanks, of C++ they often do.
 * File and line stay where frames are to become them.
 */
static struct span go_function(const struct collapse *c, struct span s)
{
    size_t blank, n;

    s = span_trim(s);
    s = span_rtrim(span_to(s, go_start_line(s)));
    if (c->opt->place == PLACE_FILE || c->opt->place == PLACE_LINE)
        return s;
    for (n = s.len; n > 0 && is_digit_ch(s.s[n - 1]);)
        n--;
    blank = span_rchr(s, ' ');
    if (n < s.len && n > 0 && s.s[n - 1] == ':' && blank != SIZE_MAX)
        s = span_rtrim(span_to(s, blank));
    return s;
}

static bool go_location(struct collapse *c, struct go *g, struct span line)
{
    struct span rest = line, first = span_next(&rest), word, address;
    struct stackset_count id;

    if (!span_ends(first, ":")) {
        /* A function of the location before, which is inlined into this one. */
        if (g->nnames == 0 || first.len == 0)
            return false;
        word = go_function(c, line);
        if (c->opt->inlined)
            go_name(g, g->names[g->nnames - 1].id, collapse_name(c, word.s, word.len));
        return true;
    }
    if (!stackset_count_parse(first.s, first.len - 1, &id))
        return false;
    address = span_next(&rest);
    if (!span_begins(address, "0x"))
        return false;
    word = span_ltrim(rest);
    if (span_begins(word, "M="))
        span_next(&rest);
    word = go_function(c, rest);
    if (word.len == 0)
        word = address;
    go_name(g, id.whole, collapse_name(c, word.s, word.len));
    return true;
}

static int by_id(const void *pa, const void *pb)
{
    const struct go_place *a = *(const struct go_place *const *)pa;
    const struct go_place *b = *(const struct go_place *const *)pb;

    if (a->id != b->id)
        return a->id < b->id ? -1 : 1;
    return (a > b) - (a < b);
}

static void go_add(struct collapse *c, const struct go *g)
{
    const struct go_place **sorted = xcalloc(g->nnames, sizeof *sorted);

    for (size_t i = 0; i < g->nnames; i++)
        sorted[i] = &g->names[i];
    qsort(sorted, g->nnames, sizeof *sorted, by_id);
    for (size_t i = 0; i < g->nsamples; i++) {
        const struct go_sample *s = &g->samples[i];

        for (size_t k = 0; k < s->n; k++) {
            uint64_t id = g->places[s->first + k];
            size_t lo = 0, hi = g->nnames;

            while (lo < hi) {
                size_t mid = lo + (hi - lo) / 2;

                if (sorted[mid]->id < id)
                    lo = mid + 1;
                else
                    hi = mid;
            }
            if (lo == g->nnames || sorted[lo]->id != id) {
                strbuf_clear(&c->scratch);
                strbuf_addf(&c->scratch, "%llu", (unsigned long long)id);
                collapse_push(c, c->scratch.buf, c->scratch.len);
            }
            for (; lo < g->nnames && sorted[lo]->id == id; lo++)
                collapse_push_id(c, sorted[lo]->name);
        }
        collapse_flush(c, LEAF_FIRST, &s->count);
    }
    free(sorted);
}

void collapse_go_run(struct collapse *c)
{
    enum { BEFORE, SAMPLES, LOCATIONS, AFTER } part = BEFORE;
    struct go g = {0};
    struct textrecord rec;

    while (part != AFTER && textinput_record(&c->in, &rec)) {
        struct span line = rec.line;
        struct span s = span_trim(line);

        if (part == BEFORE) {
            if (span_begins(s, "Samples:"))
                part = SAMPLES;
        } else if (span_begins(s, "Locations")) {
            part = LOCATIONS;
        } else if (span_begins(s, "Mappings")) {
            part = AFTER;
        } else if (s.len == 0 || (part == SAMPLES && !is_digit_ch(s.s[0]))) {
            continue; /* the columns' names, labels of samples */
        } else if (!(part == SAMPLES ? go_sample(&g, s) : go_location(c, &g, s))) {
            collapse_unknown(c, line.s, line.len);
        }
    }
    go_add(c, &g);
    free(g.samples);
    free(g.places);
    free(g.names);
}

int collapse_go_probe(const char *text, size_t len)
{
    struct span all = {text, len};

    return span_find(all, "PeriodType:") && span_find(all, "\nSamples:") ? 95
           : span_find(all, "Samples:\n") && span_find(all, "/count")    ? 80
                                                                         : 0;
}
