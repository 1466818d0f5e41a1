#include "render/backends/framecolor.h"

#include <math.h>
#include <stdlib.h>

#include "common/alloc.h"

const struct rgb framecolor_gone = {38, 38, 43}, framecolor_new = {255, 255, 255};

static bool is_link(const struct frametree *t, uint32_t name)
{
    return t->names[name].len == 2 && memcmp(t->names[name].s, "--", 2) == 0;
}

/* "name-1234": a thread kept apart from others of its process, as --tid does. */
static bool has_number(const struct frametree *t, uint32_t node)
{
    const struct frametree_name *n = frametree_name(t, node);
    size_t len = palette_strip_mark(n->s, n->len), i = len;

    while (i > 0 && n->s[i - 1] >= '0' && n->s[i - 1] <= '9')
        i--;
    return i < len && i > 1 && n->s[i - 1] == '-';
}

/* Gives a band to names of numbered threads, which are next to the name of the process. */
static void mark_numbered(struct framecolor *f)
{
    const struct frametree *t = f->t;

    for (uint32_t i = 1; i < t->n; i++) {
        uint32_t parent = t->nodes[i].parent;

        if (parent && t->nodes[parent].parent == 0 && has_number(t, i))
            f->band[i] = 1;
        else if (f->band[i] && f->hops[i] && has_number(t, parent))
            f->band[parent] = 1;
    }
}

/*
 * Parents come before their children, so one pass counts the links below each node. A sleeper's
 * stack begins with its thread's name. A waker's, which is in reverse order, ends with it:
 * before the next link, or at the leaf. A waker of one frame is no thread but a substitute for
 * one, as "[timer]".
 */
static void count_hops(struct framecolor *f)
{
    const struct frametree *t = f->t;
    bool any = false;

    for (uint32_t i = 1; i < t->nnames && !any; i++)
        any = is_link(t, i);
    if (!any)
        return;
    f->hops = xcalloc(t->n, 1);
    f->band = xcalloc(t->n, 1);
    for (uint32_t i = 1; i < t->n; i++) {
        uint32_t parent = t->nodes[i].parent;
        bool begins = is_link(t, t->nodes[parent].name);
        unsigned hops = f->hops[parent] + begins;

        f->hops[i] = (uint8_t)(hops < 255 ? hops : 255);
        if (f->o->reverse)
            continue;
        if (is_link(t, t->nodes[i].name))
            f->band[parent] |= hops > 0 && !is_link(t, t->nodes[t->nodes[parent].parent].name);
        else
            f->band[i] =
                parent == 0 || (hops > 0 && !begins && t->nodes[i].first == FRAMETREE_NONE);
    }
    if (!f->o->reverse)
        mark_numbered(f);
}

void framecolor_init(struct framecolor *f, const struct frametree *t,
                     const struct render_options *o)
{
    *f = (struct framecolor){.t = t, .o = o};
    f->by_name = xcalloc(t->nnames, sizeof *f->by_name);
    if (!t->delta)
        count_hops(f);
    else if (t->was && (o->carry || o->change == DIFFERENCE_RATIO))
        f->totals = difference_totals(t);
}

void framecolor_release(struct framecolor *f)
{
    free(f->by_name);
    free(f->hops);
    free(f->band);
    free(f->totals);
    *f = (struct framecolor){0};
}

struct change framecolor_change(const struct framecolor *f, uint32_t node)
{
    if (f->totals)
        return f->totals[node];
    if (f->t->was)
        return (struct change){f->t->was[node], f->t->now[node]};
    return (struct change){0, f->t->delta[node]};
}

void framecolor_see(struct framecolor *f, uint32_t node)
{
    struct change c;

    if (!f->t->delta || (f->o->carry && node == 0))
        return;
    c = framecolor_change(f, node);
    f->largest_delta = fmax(f->largest_delta, fabs(c.now - c.was));
}

static double share_of(const struct framecolor *f, uint32_t node)
{
    struct change all = f->totals ? f->totals[0] : (struct change){0, 0};
    double share =
        difference_share(f->o->change, framecolor_change(f, node), all, f->largest_delta);

    return f->o->negate ? -share : share;
}

enum frame_sign framecolor_sign(const struct framecolor *f, uint32_t node)
{
    double share;

    if (!f->t->delta)
        return f->band && f->band[node] ? FRAME_THREAD : FRAME_PLAIN;
    if (node == 0)
        return FRAME_PLAIN;
    if (f->t->role && f->t->role[node] != DIFFERENCE_BOTH)
        return f->t->role[node] == DIFFERENCE_GONE ? FRAME_GONE : FRAME_NEW;
    share = share_of(f, node);
    return share > 0 ? FRAME_GREW : share < 0 ? FRAME_SHRANK : FRAME_PLAIN;
}

const char *framecolor_label(enum frame_sign sign)
{
    return sign == FRAME_GREW || sign == FRAME_NEW      ? "+ "
           : sign == FRAME_SHRANK || sign == FRAME_GONE ? "\xe2\x88\x92 "
                                                        : "";
}

struct rgb framecolor_of(struct framecolor *f, uint32_t node)
{
    const struct frametree_name *n = frametree_name(f->t, node);
    const struct render_options *o = f->o;
    uint32_t *known = &f->by_name[f->t->nodes[node].name];
    struct rgb c;

    if (f->t->delta) {
        enum frame_sign sign = framecolor_sign(f, node);

        if (sign == FRAME_GONE || sign == FRAME_NEW)
            return sign == FRAME_GONE ? framecolor_gone : framecolor_new;
        return palette_delta(share_of(f, node), 1);
    }
    if (f->band && f->band[node])
        return palette_thread(n->s, palette_strip_mark(n->s, n->len));
    if (f->hops && f->hops[node])
        return palette_color_hops(o->palette, n->s, n->len, f->hops[node]);
    if (o->random)
        return palette_color_random(o->palette, n->s, n->len, node + 1);
    if (!*known) {
        c = palette_color(o->palette, n->s, n->len, o->hash);
        if (o->colormap)
            c = colormap_color(o->colormap, n->s, n->len, c);
        *known = 1u << 24 | (uint32_t)c.r << 16 | (uint32_t)c.g << 8 | c.b;
    }
    return (struct rgb){(uint8_t)(*known >> 16), (uint8_t)(*known >> 8), (uint8_t)*known};
}
