#include "render/framecolor.h"

#include <stdlib.h>

static bool is_link(const struct frametree *t, uint32_t name)
{
    return t->names[name].len == 2 && memcmp(t->names[name].s, "--", 2) == 0;
}

/* Parents come before their children, so one pass counts the links below each node. */
static void count_hops(struct framecolor *f)
{
    const struct frametree *t = f->t;
    bool any = false;

    for (uint32_t i = 1; i < t->nnames && !any; i++)
        any = is_link(t, i);
    if (!any)
        return;
    f->hops = xcalloc(t->n, 1);
    for (uint32_t i = 1; i < t->n; i++) {
        uint32_t parent = t->nodes[i].parent;
        unsigned hops = f->hops[parent] + is_link(t, t->nodes[parent].name);

        f->hops[i] = (uint8_t)(hops < 255 ? hops : 255);
    }
}

void framecolor_init(struct framecolor *f, const struct frametree *t,
                     const struct render_options *o)
{
    *f = (struct framecolor){.t = t, .o = o};
    f->by_name = xcalloc(t->nnames, sizeof *f->by_name);
    if (!t->delta)
        count_hops(f);
}

void framecolor_release(struct framecolor *f)
{
    free(f->by_name);
    free(f->hops);
    *f = (struct framecolor){0};
}

struct rgb framecolor_of(struct framecolor *f, uint32_t node)
{
    const struct frametree_name *n = frametree_name(f->t, node);
    const struct render_options *o = f->o;
    uint32_t *known = &f->by_name[f->t->nodes[node].name];
    struct rgb c;

    if (f->t->delta) {
        double delta = o->negate ? -f->t->delta[node] : f->t->delta[node];

        return palette_delta(delta, f->largest_delta);
    }
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
