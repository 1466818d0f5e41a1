/*
 * Lines become pairs of a text and a count; equal texts are brought together by sorting.
 */
#define _GNU_SOURCE
#include "driver/waitedfor.h"

#include <stdlib.h>

#include "common/folded.h"

#define NEAR 4

struct list {
    struct waited *w;
    size_t n, alloc;
};

struct frames {
    const char *s[4096];
    size_t len[4096];
    size_t n;
};

static void add(struct list *l, const char *s, size_t len, uint64_t us)
{
    if (l->n == l->alloc) {
        l->alloc = l->alloc ? l->alloc * 2 : 64;
        l->w = xreallocarray(l->w, l->alloc, sizeof *l->w);
    }
    l->w[l->n++] = (struct waited){xmemdup0(s, len), us};
}

static int by_text(const void *a, const void *b)
{
    return strcmp(((const struct waited *)a)->what, ((const struct waited *)b)->what);
}

static int by_time(const void *pa, const void *pb)
{
    const struct waited *a = pa, *b = pb;

    return a->us == b->us ? by_text(a, b) : a->us < b->us ? 1 : -1;
}

/* Brings equal texts together, largest first, and keeps `max`. */
static void rank(struct list *l, size_t max)
{
    size_t n = 0;

    if (l->n)
        qsort(l->w, l->n, sizeof *l->w, by_text);
    for (size_t i = 0; i < l->n; i++) {
        if (n && strcmp(l->w[n - 1].what, l->w[i].what) == 0) {
            l->w[n - 1].us += l->w[i].us;
            free(l->w[i].what);
        } else {
            l->w[n++] = l->w[i];
        }
    }
    if (n)
        qsort(l->w, n, sizeof *l->w, by_time);
    for (l->n = n < max ? n : max; n > l->n; n--)
        free(l->w[n - 1].what);
}

static bool next_line(const struct strbuf *text, size_t *at, struct folded_line *line)
{
    while (*at < text->len) {
        const char *s = text->buf + *at, *nl = memchr(s, '\n', text->len - *at);
        size_t len = nl ? (size_t)(nl - s) : text->len - *at;

        *at += len + 1;
        if (folded_parse_line(s, len, line) == 1)
            return true;
    }
    return false;
}

size_t waited_for(const struct strbuf *off, struct waited *out, size_t max)
{
    struct list l = {NULL, 0, 0};
    struct folded_line line;

    for (size_t at = 0; next_line(off, &at, &line);) {
        const char *semicolon = memrchr(line.stack, ';', line.len);
        const char *leaf = semicolon ? semicolon + 1 : line.stack;

        add(&l, leaf, (size_t)(line.stack + line.len - leaf), line.count.whole);
    }
    rank(&l, max);
    for (size_t i = 0; i < l.n; i++)
        out[i] = l.w[i];
    free(l.w);
    return l.n;
}

/* Of deeper stacks the rest is left aside; both ends that matter are before it. */
static void split(const struct folded_line *line, struct frames *f)
{
    const char *s = line->stack, *end = s + line->len;

    for (f->n = 0; f->n < ARRAY_LEN(f->s); s += f->len[f->n++] + 1) {
        const char *semicolon = memchr(s, ';', (size_t)(end - s));

        f->s[f->n] = s;
        f->len[f->n] = (size_t)((semicolon ? semicolon : end) - s);
        if (!semicolon) {
            f->n++;
            return;
        }
    }
}

static bool begins(const struct frames *f, size_t i, const char *with)
{
    return f->len[i] >= strlen(with) && memcmp(f->s[i], with, strlen(with)) == 0;
}

static bool locks(const struct frames *f, size_t i)
{
    for (size_t k = 0; k + 4 <= f->len[i]; k++) {
        char before = k ? f->s[i][k - 1] : ' ';

        if (strncasecmp(f->s[i] + k, "lock", 4) == 0 && !strchr("bBcC", before))
            return true;
    }
    return false;
}

/* The wait's own frame when it is one for a lock, else 0. */
static size_t lock_frame(const struct frames *f, size_t sleeper)
{
    size_t leaf = sleeper - 1;

    if (sleeper < 2 || !begins(f, leaf, "futex "))
        return 0;
    for (size_t i = leaf; i-- > 1 && leaf - i <= NEAR;)
        if (locks(f, i))
            return leaf;
    return 0;
}

static size_t bare(const struct frames *f, size_t i)
{
    return f->len[i] > 4 && memcmp(f->s[i] + f->len[i] - 4, "_[", 2) == 0 ? f->len[i] - 4
                                                                          : f->len[i];
}

/* "worker in give_back": the waker's name and the function nearest to the call that is
 * not the library's. */
static void describe_waker(const struct frames *f, size_t begin, struct strbuf *sb)
{
    static const char *const library[] = {"futex", "_", "lll_", "pthread_", "sem_", "[", "syscall"};

    strbuf_add(sb, f->s[f->n - 1], bare(f, f->n - 1));
    for (size_t i = begin; i + 1 < f->n; i++) {
        bool own = true;

        for (size_t k = 0; k < ARRAY_LEN(library); k++)
            own = own && !begins(f, i, library[k]);
        if (!own)
            continue;
        strbuf_addstr(sb, " in ");
        strbuf_add(sb, f->s[i], bare(f, i));
        return;
    }
}

struct waited_lock waited_lock(const struct strbuf *offwake)
{
    struct list locked = {NULL, 0, 0}, givers = {NULL, 0, 0};
    struct waited_lock found = {{NULL, 0}, {NULL, 0}};
    struct frames *f = xcalloc(1, sizeof *f);
    struct strbuf sb = STRBUF_INIT;
    struct folded_line line;

    for (int pass = 0; pass < 2; pass++) {
        for (size_t at = 0; next_line(offwake, &at, &line);) {
            size_t link = 0, leaf;

            split(&line, f);
            while (link < f->n && !(f->len[link] == 2 && memcmp(f->s[link], "--", 2) == 0))
                link++;
            leaf = lock_frame(f, link);
            if (!leaf)
                continue;
            if (pass == 0) {
                add(&locked, f->s[leaf], f->len[leaf], line.count.whole);
            } else if (link + 1 < f->n && f->len[leaf] == strlen(found.lock.what) &&
                       memcmp(f->s[leaf], found.lock.what, f->len[leaf]) == 0) {
                strbuf_clear(&sb);
                describe_waker(f, link + 1, &sb);
                add(&givers, sb.buf, sb.len, line.count.whole);
            }
        }
        rank(pass ? &givers : &locked, 1);
        if (pass == 0 && locked.n == 0)
            break;
        if (pass == 0)
            found.lock = locked.w[0];
        else if (givers.n)
            found.giver = givers.w[0];
    }
    free(locked.w);
    free(givers.w);
    free(f);
    strbuf_release(&sb);
    return found;
}
