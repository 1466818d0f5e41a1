/*
 * Lines become pairs of a text and a count; equal texts are brought together by sorting.
 */
#define _GNU_SOURCE
#include "driver/waitedfor.h"

#include <stdlib.h>

#include "common/folded.h"

#define NEAR 4  /* functions from a futex to one that is called after a lock */
#define FAR 8   /* from another call to one that acquires a lock */
#define SHOWN 4 /* functions of a stack */

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

static bool holds(const struct frames *f, size_t i, const char *part, size_t len)
{
    for (size_t k = 0; k + len <= f->len[i]; k++)
        if (strncasecmp(f->s[i] + k, part, len) == 0)
            return true;
    return false;
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
    bool futex;

    if (sleeper < 2)
        return 0;
    futex = begins(f, leaf, "futex ");
    for (size_t i = leaf; i-- > 1 && leaf - i <= (futex ? NEAR : FAR);)
        if (locks(f, i) && (futex || holds(f, i, "acqui", 5)))
            return leaf;
    return 0;
}

static bool is_separator(const struct frames *f, size_t i)
{
    return f->len[i] == 2 && memcmp(f->s[i], "--", 2) == 0;
}

static size_t bare(const struct frames *f, size_t i)
{
    return f->len[i] > 4 && f->s[i][f->len[i] - 1] == ']' &&
                   memcmp(f->s[i] + f->len[i] - 4, "_[", 2) == 0
               ? f->len[i] - 4
               : f->len[i];
}

/* Not the C library's way from a function to the call. */
static bool is_own(const struct frames *f, size_t i, size_t call)
{
    static const char *const library[] = {"futex", "_",      "lll_",  "pthread_",     "sem_",   "[",
                                          "clone", "usleep", "sleep", "start_thread", "syscall"};
    const char *space = memchr(f->s[call], ' ', f->len[call]);

    for (size_t k = 0; k < ARRAY_LEN(library); k++)
        if (begins(f, i, library[k]))
            return false;
    return !holds(f, i, f->s[call], space ? (size_t)(space - f->s[call]) : bare(f, call));
}

/*
 * "give < work < serve": the innermost functions of the program's own, from frame `from`
 * on in steps of `step` before `end`; `call` is the call's frame. Where an interpreter
 * has told its functions, these alone. False: there are none.
 */
static bool add_functions(const struct frames *f, size_t from, size_t end, int step, size_t call,
                          size_t max, struct strbuf *sb)
{
    bool python = false;
    size_t n = 0;

    for (size_t i = from; i != end; i += (size_t)step)
        python = python || begins(f, i, "py::");
    for (size_t i = from; i != end && n < max; i += (size_t)step) {
        const char *s = f->s[i], *colon;
        size_t len = bare(f, i);

        if (python ? !begins(f, i, "py::") : !is_own(f, i, call))
            continue;
        if (python) {
            s += 4;
            len = len > 4 ? len - 4 : 0;
            colon = memchr(s, ':', len);
            len = colon ? (size_t)(colon - s) : len;
        }
        strbuf_addstr(sb, n++ ? " < " : " in ");
        strbuf_add(sb, s, len);
    }
    return n > 0;
}

/* What is locked: its name, or else where that is done. */
static void describe_lock(const struct frames *f, size_t leaf, struct strbuf *sb)
{
    strbuf_add(sb, f->s[leaf], f->len[leaf]);
    if (!begins(f, leaf, "futex ") || begins(f, leaf, "futex ["))
        add_functions(f, leaf - 1, 0, -1, leaf, SHOWN, sb);
}

/* "worker in give_back": the link [begin, end) of a chain. */
static void describe_waker(const struct frames *f, size_t begin, size_t end, struct strbuf *sb)
{
    strbuf_add(sb, f->s[end - 1], bare(f, end - 1));
    if (end - begin > 1)
        add_functions(f, begin, end - 1, 1, begin, SHOWN - 1, sb);
}

/* "nanosleep of reporter in write_report": what a waker slept in, if the last link of the
 * chain says so. */
static bool describe_end(const struct frames *f, struct strbuf *sb)
{
    size_t begin = f->n;

    while (begin > 0 && !is_separator(f, begin - 1))
        begin--;
    if (begin == 0 || f->n - begin < 3 || !begins(f, begin, "["))
        return false;
    strbuf_add(sb, f->s[begin + 1], bare(f, begin + 1));
    strbuf_addstr(sb, " of ");
    describe_waker(f, begin + 1, f->n, sb);
    return true;
}

/* One line of the chain view whose sleeper waits for a lock, into the lists. */
static void count_lock(const struct frames *f, uint64_t us, const char *wanted, struct list *locked,
                       struct list *givers, struct list *ends)
{
    struct strbuf sb = STRBUF_INIT;
    size_t link = 0, leaf, end;

    while (link < f->n && !is_separator(f, link))
        link++;
    leaf = lock_frame(f, link);
    if (!leaf)
        return;
    describe_lock(f, leaf, &sb);
    if (!wanted) {
        add(locked, sb.buf, sb.len, us);
    } else if (link + 1 < f->n && strcmp(sb.buf, wanted) == 0) {
        for (end = link + 1; end < f->n && !is_separator(f, end);)
            end++;
        strbuf_clear(&sb);
        if (end > link + 1)
            describe_waker(f, link + 1, end, &sb);
        if (sb.len)
            add(givers, sb.buf, sb.len, us);
        strbuf_clear(&sb);
        if (end < f->n && describe_end(f, &sb))
            add(ends, sb.buf, sb.len, us);
    }
    strbuf_release(&sb);
}

static void first_of(struct list *l, struct waited *out)
{
    rank(l, 1);
    if (l->n)
        *out = l->w[0];
    free(l->w);
}

struct waited_lock waited_lock(const struct strbuf *chain)
{
    struct list locked = {NULL, 0, 0}, givers = {NULL, 0, 0}, ends = {NULL, 0, 0};
    struct waited_lock found = {{NULL, 0}, {NULL, 0}, {NULL, 0}};
    struct frames *f = xcalloc(1, sizeof *f);
    struct folded_line line;

    for (int pass = 0; pass < 2; pass++) {
        for (size_t at = 0; next_line(chain, &at, &line);) {
            split(&line, f);
            count_lock(f, line.count.whole, found.lock.what, &locked, &givers, &ends);
        }
        if (pass == 0)
            first_of(&locked, &found.lock);
        if (!found.lock.what)
            break;
    }
    first_of(&givers, &found.giver);
    first_of(&ends, &found.end);
    free(f);
    return found;
}
