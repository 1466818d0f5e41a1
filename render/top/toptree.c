#define _GNU_SOURCE
#include "render/top/toptree.h"

#include <stdlib.h>

#include "common/alloc.h"
#include "render/top/toptext.h"

/* Columns of indentation: a tree that branches ten thousand times deep must end somewhere. */
#define WIDEST 256

/* A frame to print, with the text before its name, and before those of its callees. */
struct todo {
    uint32_t node;
    size_t columns;
    char *first, *rest; /* owned */
};

struct walk {
    struct outstream *out;
    const struct frametree *t;
    const struct toptree_look *look;
    uint8_t *picked;
    struct todo *todo;
    size_t n, cap;
};

static int by_total(const void *pa, const void *pb, void *arg)
{
    uint32_t a = *(const uint32_t *)pa, b = *(const uint32_t *)pb;
    double x = folded_count_double(frametree_total(arg, a));
    double y = folded_count_double(frametree_total(arg, b));

    if (x != y)
        return x > y ? -1 : 1;
    return (a > b) - (a < b); /* callers have lower numbers */
}

static void pick(struct walk *w, size_t rows)
{
    uint32_t n = w->t->n - 1, *order;

    if (!rows || rows >= n) {
        for (uint32_t i = 1; i <= n; i++)
            w->picked[i] = folded_count_double(frametree_total(w->t, i)) > 0;
        return;
    }
    order = xreallocarray(NULL, n ? n : 1, sizeof *order);
    for (uint32_t i = 0; i < n; i++)
        order[i] = i + 1;
    qsort_r(order, n, sizeof *order, by_total, (void *)w->t);
    for (uint32_t i = 0; i < n && i < rows; i++)
        if (folded_count_double(frametree_total(w->t, order[i])) > 0)
            w->picked[order[i]] = 1;
    free(order);
}

static void put(struct walk *w, struct todo item)
{
    GROW(w->todo, w->n, w->cap);
    w->todo[w->n++] = item;
}

static char *joined(const char *a, const char *b)
{
    struct strbuf sb = STRBUF_INIT;

    strbuf_addstr(&sb, a);
    strbuf_addstr(&sb, b);
    return strbuf_detach(&sb, NULL);
}

/* Puts a frame's shown callees on the stack, the largest on top. */
static void put_callees(struct walk *w, const struct todo *of)
{
    uint32_t *list = NULL;
    size_t n = 0, cap = 0;

    for (uint32_t c = w->t->nodes[of->node].first; c != FRAMETREE_NONE; c = w->t->nodes[c].next)
        if (w->picked[c]) {
            GROW(list, n, cap);
            list[n++] = c;
        }
    if (n)
        qsort_r(list, n, sizeof *list, by_total, (void *)w->t);
    for (size_t i = n; i-- > 0;) {
        bool last = i + 1 == n;

        if (n == 1 || of->columns >= WIDEST)
            put(w, (struct todo){list[i], of->columns, xstrdup(of->rest), xstrdup(of->rest)});
        else
            put(w, (struct todo){list[i], of->columns + 2,
                                 joined(of->rest, last ? "\xe2\x94\x94 " : "\xe2\x94\x9c "),
                                 joined(of->rest, last ? "  " : "\xe2\x94\x82 ")});
    }
    free(list);
}

static void add_line(struct walk *w, const struct todo *item)
{
    const struct frametree_name *name = frametree_name(w->t, item->node);
    const struct toptree_look *look = w->look;
    double all = folded_count_double(frametree_total(w->t, 0));
    struct folded_count self = frametree_self(w->t, item->node);
    struct strbuf *sb = &w->out->sb;
    size_t before = look->width + 9 + look->width + 2 + 9 + 2 + item->columns, room = 0;
    bool hot = look->color && folded_count_double(self) >= all / 10;

    if (look->columns)
        room = look->columns > before + 10 ? look->columns - before : 10;
    strbuf_addstr(sb, hot ? "\x1b[31m" : "");
    toptext_add_value(sb, self, look->unit, look->exact, look->width);
    toptext_add_share(sb, self, all);
    strbuf_addstr(sb, hot ? "\x1b[0m" : "");
    toptext_add_value(sb, frametree_total(w->t, item->node), look->unit, look->exact,
                      look->width + 2);
    toptext_add_share(sb, frametree_total(w->t, item->node), all);
    strbuf_addstr(sb, "  ");
    strbuf_addstr(sb, item->first);
    toptext_add_name(sb, name->s, name->len, room);
    strbuf_addch(sb, '\n');
}

void toptree_write(struct outstream *out, const struct frametree *t, size_t rows,
                   const struct toptree_look *look)
{
    struct walk w = {.out = out, .t = t, .look = look, .picked = xcalloc(t->n, 1)};

    pick(&w, rows);
    put_callees(&w, &(struct todo){.rest = (char[]){""}});
    while (w.n > 0) {
        struct todo item = w.todo[--w.n];

        add_line(&w, &item);
        outstream_some(out);
        put_callees(&w, &item);
        free(item.first);
        free(item.rest);
    }
    free(w.todo);
    free(w.picked);
}
