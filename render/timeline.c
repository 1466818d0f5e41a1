#define _GNU_SOURCE
#include "render/timeline.h"

#include <stdlib.h>
#include <string.h>

#include "common/alloc.h"
#include "common/trace/varint_base64.h"

#define BEGINS "# moments: "

void timeline_init(struct timeline *tl)
{
    *tl = (struct timeline){0};
}

void timeline_release(struct timeline *tl)
{
    for (size_t i = 0; i < tl->nmarks; i++)
        free(tl->marks[i].name);
    free(tl->moments);
    free(tl->marks);
    free(tl->histories);
    free(tl->changes);
    *tl = (struct timeline){0};
}

const char *timeline_view(enum timeline_kind kind)
{
    return kind == TIMELINE_LIVE ? "live" : "mmap";
}

void timeline_begin(struct timeline *tl)
{
    tl->begun = tl->n;
}

/* ---- comments ---- */

/* The value of `key`, " us=", up to the next blank. */
static bool find_word(const char *s, size_t len, const char *key, struct varint_reader *r)
{
    const char *at = memmem(s, len, key, strlen(key)), *end;

    if (!at)
        return false;
    at += strlen(key);
    end = memchr(at, ' ', (size_t)(s + len - at));
    varint_read(r, at, (size_t)((end ? end : s + len) - at));
    return true;
}

static bool take_moments(struct timeline *tl, const char *s, size_t len)
{
    struct varint_reader us, live, mapped, rss;
    uint64_t now = 0, step;

    if (!find_word(s, len, " us=", &us) || !find_word(s, len, " live=", &live) ||
        !find_word(s, len, " mapped=", &mapped) || !find_word(s, len, " rss=", &rss))
        return false;
    for (int64_t later; varint_take_signed(&us, &later);) {
        struct timeline_moment m = {.nth = tl->n};

        step = (uint64_t)later;
        if (later < 0 || now + step < now || now + step > INT64_MAX)
            return false;
        now += step;
        m.us = now;
        if (!varint_take_signed(&live, &m.live) || !varint_take_signed(&mapped, &m.mapped) ||
            !varint_take_signed(&rss, &m.rss))
            return false;
        GROW(tl->moments, tl->n, tl->room);
        tl->moments[tl->n++] = m;
    }
    return !us.wrong;
}

/* Keeps the beginning if all texts with moments have the same. */
static void take_zero(struct timeline *tl, const char *s, size_t len)
{
    struct varint_reader r;
    uint64_t zero = 0;

    if (!find_word(s, len, " zero=", &r) || !varint_take(&r, &zero) || zero > INT64_MAX)
        zero = 0; /* older text has none */
    tl->zero_ns = tl->n == 0 || tl->zero_ns == zero ? zero : 0;
}

static bool take_axis(struct timeline *tl, const char *s, size_t len)
{
    take_zero(tl, s, len);
    timeline_begin(tl);
    if (take_moments(tl, s, len))
        return true;
    tl->n = tl->begun;
    return false;
}

static bool take_mark(struct timeline *tl, const char *s, size_t len)
{
    struct strbuf name = STRBUF_INIT;
    struct varint_reader us, r;
    uint64_t c = 0, when;

    if (!find_word(s, len, " us=", &us) || !find_word(s, len, " name=", &r) ||
        !varint_take(&us, &when))
        return false;
    while (varint_take(&r, &c) && c < 256)
        strbuf_addch(&name, (char)c);
    if (r.wrong || c > 255) {
        strbuf_release(&name);
        return false;
    }
    GROW(tl->marks, tl->nmarks, tl->marks_room);
    tl->marks[tl->nmarks].us = when;
    tl->marks[tl->nmarks].len = name.len;
    tl->marks[tl->nmarks++].name = strbuf_detach(&name, NULL);
    return true;
}

static bool take_changes(struct timeline *tl, const char *s, size_t len)
{
    size_t first = tl->nchanges, moment = tl->begun, limit = tl->n;
    struct varint_reader r;
    uint64_t later;
    int64_t bytes;

    varint_read(&r, s, len);
    while (varint_take(&r, &later)) {
        if (later >= limit - moment || !varint_take_signed(&r, &bytes) ||
            (tl->nchanges > first && !later)) {
            tl->nchanges = first;
            return false;
        }
        moment += (size_t)later;
        GROW(tl->changes, tl->nchanges, tl->changes_room);
        tl->changes[tl->nchanges++] = (struct timeline_change){moment, bytes};
    }
    if (r.wrong)
        tl->nchanges = first;
    return tl->nchanges > first;
}

static bool take_history(struct timeline *tl, enum timeline_kind kind, const char *s, size_t len,
                         size_t *stack_len)
{
    static const char word[] = " changes=";
    size_t end = len, first = tl->nchanges;

    while (end && s[end - 1] != ' ')
        end--;
    end -= end > 0; /* now it is the last blank */
    if (end == 0 || len - end < sizeof word - 1 || memcmp(s + end, word, sizeof word - 1) != 0)
        return false;
    *stack_len = end;
    end += sizeof word - 1;
    if (tl->begun == tl->n || !take_changes(tl, s + end, len - end))
        return false;
    GROW(tl->histories, tl->nhistories, tl->histories_room);
    tl->histories[tl->nhistories++] = (struct timeline_history){
        .kind = kind, .node = TIMELINE_NOWHERE, .first = first, .nn = tl->nchanges - first};
    return true;
}

static bool starts_with(const char **s, size_t *len, const char *with)
{
    size_t n = strlen(with);

    if (*len < n || memcmp(*s, with, n) != 0)
        return false;
    *s += n;
    *len -= n;
    return true;
}

bool timeline_comment(struct timeline *tl, const char *s, size_t len, uint64_t line,
                      const char **stack, size_t *stack_len, size_t *history)
{
    bool known = true, is_history = false;

    while (len && (s[len - 1] == '\r' || s[len - 1] == ' '))
        len--;
    if (!starts_with(&s, &len, BEGINS))
        return false;
    if (starts_with(&s, &len, "axis"))
        known = take_axis(tl, s, len);
    else if (starts_with(&s, &len, "mark"))
        known = take_mark(tl, s, len);
    else if (starts_with(&s, &len, "live "))
        known = is_history = take_history(tl, TIMELINE_LIVE, s, len, stack_len);
    else if (starts_with(&s, &len, "mmap "))
        known = is_history = take_history(tl, TIMELINE_MAPPED, s, len, stack_len);
    else
        known = false;
    if (!known && tl->wrong++ == 0)
        tl->first_wrong = line;
    *stack = s;
    *history = tl->nhistories - 1;
    return is_history;
}

void timeline_placed(struct timeline *tl, size_t history, uint32_t node)
{
    tl->histories[history].node = node;
}

/* ---- sorting and merging ---- */

static int by_time(const void *pa, const void *pb)
{
    const struct timeline_moment *a = pa, *b = pb;

    if (a->us != b->us)
        return a->us < b->us ? -1 : 1;
    return (a->nth > b->nth) - (a->nth < b->nth);
}

static int by_mark(const void *pa, const void *pb)
{
    const struct timeline_mark *a = pa, *b = pb;

    return (a->us > b->us) - (a->us < b->us);
}

static int by_node(const void *pa, const void *pb)
{
    const struct timeline_history *a = pa, *b = pb;

    if (a->kind != b->kind)
        return a->kind < b->kind ? -1 : 1;
    if (a->node != b->node)
        return a->node < b->node ? -1 : 1;
    return (a->first > b->first) - (a->first < b->first);
}

static int by_moment(const void *pa, const void *pb)
{
    const struct timeline_change *a = pa, *b = pb;

    return (a->moment > b->moment) - (a->moment < b->moment);
}

static int64_t sum(int64_t a, int64_t b)
{
    return (int64_t)((uint64_t)a + (uint64_t)b);
}

/* Merges the moments of one time. Returns the new index of each, for the caller to free. */
static size_t *sort_moments(struct timeline *tl)
{
    size_t *now = xcalloc(tl->n + 1, sizeof *now), n = 0;

    if (tl->n)
        qsort(tl->moments, tl->n, sizeof *tl->moments, by_time);
    for (size_t i = 0; i < tl->n; i++) {
        struct timeline_moment m = tl->moments[i];

        if (n && tl->moments[n - 1].us == m.us) {
            tl->moments[n - 1].live = sum(tl->moments[n - 1].live, m.live);
            tl->moments[n - 1].mapped = sum(tl->moments[n - 1].mapped, m.mapped);
            tl->moments[n - 1].rss = sum(tl->moments[n - 1].rss, m.rss);
        } else {
            tl->moments[n++] = m;
        }
        now[m.nth] = n - 1;
    }
    tl->n = n;
    return now;
}

/* Appends the changes of histories [from, to), which are of one node, as one history. */
static struct timeline_history join(const struct timeline *tl, size_t from, size_t to,
                                    struct timeline_change *out, size_t *nout)
{
    struct timeline_history all = tl->histories[from];
    size_t first = *nout, n = first;

    for (size_t i = from; i < to; i++) {
        const struct timeline_history *h = &tl->histories[i];

        memcpy(out + n, tl->changes + h->first, h->nn * sizeof *out);
        n += h->nn;
    }
    qsort(out + first, n - first, sizeof *out, by_moment);
    for (size_t i = first; i < n; i++)
        if (*nout > first && out[*nout - 1].moment == out[i].moment)
            out[*nout - 1].bytes = sum(out[*nout - 1].bytes, out[i].bytes);
        else
            out[(*nout)++] = out[i];
    all.first = first;
    all.nn = *nout - first;
    return all;
}

void timeline_finish(struct timeline *tl)
{
    size_t *now = sort_moments(tl), n = 0, nchanges = 0;
    struct timeline_change *changes = xcalloc(tl->nchanges + 1, sizeof *changes);

    for (size_t i = 0; i < tl->nchanges; i++)
        tl->changes[i].moment = now[tl->changes[i].moment];
    free(now);
    if (tl->nmarks)
        qsort(tl->marks, tl->nmarks, sizeof *tl->marks, by_mark);
    if (tl->nhistories)
        qsort(tl->histories, tl->nhistories, sizeof *tl->histories, by_node);
    for (size_t i = 0, next; i < tl->nhistories; i = next) {
        for (next = i + 1; next < tl->nhistories; next++)
            if (tl->histories[next].kind != tl->histories[i].kind ||
                tl->histories[next].node != tl->histories[i].node)
                break;
        if (tl->histories[i].node == TIMELINE_NOWHERE)
            continue;
        tl->histories[n] = join(tl, i, next, changes, &nchanges);
        n++;
    }
    tl->nhistories = n;
    free(tl->changes);
    tl->changes = changes;
    tl->nchanges = nchanges;
}
