/*
 * Lines become pairs of a text and a count; equal texts are brought together by sorting.
 */
#define _GNU_SOURCE
#include "render/findings/top_waits.h"

#include <stdlib.h>

#include "common/alloc.h"
#include "common/strbuf.h"

/* A wait of less than 1/SMALL_PART of the traced time is not worth a headline. */
#define SMALL_PART 100

void waited_add(struct waited_list *l, const char *what, size_t len, uint64_t us)
{
    GROW(l->w, l->n, l->alloc);
    l->w[l->n++] = (struct waited){xmemdup0(what, len), us};
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

void waited_rank(struct waited_list *l)
{
    size_t n = 0;

    if (!l->n)
        return;
    qsort(l->w, l->n, sizeof *l->w, by_text);
    for (size_t i = 0; i < l->n; i++) {
        if (n && strcmp(l->w[n - 1].what, l->w[i].what) == 0) {
            l->w[n - 1].us += l->w[i].us;
            free(l->w[i].what);
        } else {
            l->w[n++] = l->w[i];
        }
    }
    l->n = n;
    qsort(l->w, n, sizeof *l->w, by_time);
}

size_t waited_take(struct waited_list *l, struct waited *out, size_t max)
{
    size_t n = l->n < max ? l->n : max;

    for (size_t i = 0; i < l->n; i++) {
        if (i < n)
            out[i] = l->w[i];
        else
            free(l->w[i].what);
    }
    free(l->w);
    *l = (struct waited_list){NULL, 0, 0};
    return n;
}

bool waited_next_line(const struct strbuf *text, size_t *at, struct folded_line *line)
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

/* ---- calls ---- */

static size_t call_len(const char *what)
{
    return strcspn(what, " ");
}

static bool is_for_child(const char *what)
{
    return strncmp(what, "wait4 child", 11) == 0 || strncmp(what, "waitid child", 12) == 0;
}

/* Adds up the times by leaf, each text once. */
static void add_leaves(struct waited_list *l, const struct strbuf *off)
{
    struct folded_line line;

    for (size_t at = 0; waited_next_line(off, &at, &line);) {
        const char *semicolon = memrchr(line.stack, ';', line.len);
        const char *leaf = semicolon ? semicolon + 1 : line.stack;

        waited_add(l, leaf, (size_t)(line.stack + line.len - leaf), line.count.whole);
    }
    waited_rank(l);
}

/* Gathers one call's entries of a ranked list: the first is its largest object. */
static struct waited_call gather(const struct waited_list *l, const char *call)
{
    const struct waited *first = NULL;
    struct waited_call w = {.all.what = NULL};
    size_t len = strlen(call);

    for (size_t i = 0; i < l->n; i++) {
        if (call_len(l->w[i].what) != len || memcmp(l->w[i].what, call, len) != 0)
            continue;
        w.all.us += l->w[i].us;
        if (first)
            w.others++;
        else
            first = &l->w[i];
    }
    w.all.what = xstrdup(w.others ? call : first->what);
    if (w.others && first->what[len]) {
        w.most.what = xstrdup(first->what + len + 1);
        w.most.us = first->us;
    }
    return w;
}

static void drop_children(struct waited_list *l)
{
    size_t kept = 0;

    for (size_t i = 0; i < l->n; i++)
        kept += !is_for_child(l->w[i].what);
    if (!kept)
        return;
    kept = 0;
    for (size_t i = 0; i < l->n; i++)
        if (is_for_child(l->w[i].what))
            free(l->w[i].what);
        else
            l->w[kept++] = l->w[i];
    l->n = kept;
}

size_t waited_for(const struct strbuf *off, bool children, struct waited_call *out, size_t max)
{
    struct waited_list leaves = {NULL, 0, 0}, calls = {NULL, 0, 0};
    size_t n;

    add_leaves(&leaves, off);
    if (children)
        drop_children(&leaves);
    for (size_t i = 0; i < leaves.n; i++)
        waited_add(&calls, leaves.w[i].what, call_len(leaves.w[i].what), leaves.w[i].us);
    waited_rank(&calls);
    n = calls.n < max ? calls.n : max;
    for (size_t i = 0; i < n; i++)
        out[i] = gather(&leaves, calls.w[i].what);
    waited_take(&calls, NULL, 0);
    waited_take(&leaves, NULL, 0);
    return n;
}

void waited_call_release(struct waited_call *w)
{
    free(w->all.what);
    free(w->most.what);
}

bool waited_is_worth(uint64_t us, uint64_t elapsed_ns)
{
    return us >= elapsed_ns / 1000 / SMALL_PART;
}
