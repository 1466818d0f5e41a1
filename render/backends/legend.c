#include "render/backends/legend.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/alloc.h"
#include "render/backends/textfit.h"
#include "render/text/value.h"

#define KINDS 6 /* of frames, and of wakers, that have keys of their own */

static struct legend_key *add_key(struct legend *l, const char *before, const char *after)
{
    struct legend_key *k;

    if (l->n == LEGEND_KEYS)
        return NULL;
    k = &l->keys[l->n++];
    k->before = xstrdup(before);
    k->after = xstrdup(after);
    return k;
}

static void add_swatch(struct legend *l, const char *text, struct rgb color)
{
    struct legend_key *k = add_key(l, "", text);

    if (!k)
        return;
    k->colors[0] = color;
    k->ncolors = 1;
}

/* ---- the total ---- */

static double times_factor(double v, const struct render_options *o)
{
    return fmin(v * o->factor, 18446744073709549568.0);
}

static struct folded_count count_of(double v)
{
    double whole = floor(v);

    return (struct folded_count){(uint64_t)whole, v - whole};
}

static void add_total(struct legend *l, const struct framecolor *f)
{
    static const char *const of_widths[] = {
        [DIFFERENCE_AFTER] = " after",
        [DIFFERENCE_BEFORE] = " before",
        [DIFFERENCE_EITHER] = ", the larger of before and after",
        [DIFFERENCE_ELIDED] = " after, and before of what is gone",
    };
    struct folded_count all = frametree_total(f->t, 0);
    struct strbuf sb = STRBUF_INIT;

    strbuf_addstr(&sb, "Total ");
    if (f->o->factor != 1)
        all = count_of(times_factor(folded_count_double(all), f->o));
    value_add_both(&sb, all, f->o->countname);
    if (f->t->delta)
        strbuf_addstr(&sb, of_widths[f->o->widths]);
    add_key(l, sb.buf, "");
    strbuf_release(&sb);
}

/* ---- the colours of a comparison ---- */

static void add_signed(struct strbuf *sb, double v, const struct render_options *o)
{
    struct folded_count c = count_of(times_factor(fabs(v), o));

    strbuf_addstr(sb, v < 0 ? "\xe2\x88\x92" : "+");
    if (!value_add_human(sb, c, o->countname)) {
        value_add_number(sb, c, true);
        strbuf_addf(sb, " %s", o->countname);
    }
}

static void say_ends(const struct framecolor *f, struct strbuf *low, struct strbuf *high)
{
    const struct change *all = f->totals;

    switch (f->o->change) {
    case DIFFERENCE_RELATIVE:
        strbuf_addf(low, "Change of a frame, against itself: %s", f->o->negate ? "new" : "gone");
        strbuf_addstr(high, f->o->negate ? "gone" : "new");
        return;
    case DIFFERENCE_RATIO:
        strbuf_addf(low, "Second count for each of the first: ");
        if (!all || all->was <= 0 || all->now <= 0) {
            strbuf_addstr(low, "less");
            strbuf_addstr(high, "more");
            return;
        }
        strbuf_addf(low, "\xe2\x89\xa4 %.3g", all->now / all->was / 4);
        strbuf_addf(high, "\xe2\x89\xa5 %.3g; of all %.3g", all->now / all->was * 4,
                    all->now / all->was);
        return;
    default:
        strbuf_addf(low, "Change of a frame %s%s: ", f->o->carry ? "and all it calls" : "itself",
                    f->o->negate ? ", from after to before" : "");
        add_signed(low, -f->largest_delta, f->o);
        add_signed(high, f->largest_delta, f->o);
    }
}

static void add_scale(struct legend *l, const struct framecolor *f)
{
    struct strbuf low = STRBUF_INIT, high = STRBUF_INIT;
    struct legend_key *k;

    say_ends(f, &low, &high);
    k = add_key(l, low.buf, high.buf);
    strbuf_release(&low);
    strbuf_release(&high);
    if (!k)
        return;
    k->ncolors = LEGEND_COLORS;
    for (int i = 0; i < LEGEND_COLORS; i++) {
        double share = 2.0 * i / (LEGEND_COLORS - 1) - 1;

        /* --negate reverses the signs as well, but ratios are printed as they are. */
        k->colors[i] =
            palette_delta(f->o->negate && f->o->change == DIFFERENCE_RATIO ? -share : share, 1);
    }
    if (f->t->role) {
        add_swatch(l, "only before", framecolor_gone);
        add_swatch(l, "only after", framecolor_new);
    }
}

/* ---- the colours of one profile ---- */

static void add_wakers(struct legend *l, const struct framecolor *f, const struct layout *layout)
{
    unsigned most = 0;

    for (size_t i = 0; i < layout->n; i++)
        if (f->hops[layout->frames[i].node] > most)
            most = f->hops[layout->frames[i].node];
    add_swatch(l, "who slept", palette_swatch(f->o->palette));
    for (unsigned hop = 1; hop <= most && hop <= KINDS - 1; hop++) {
        static const char *const words[KINDS] = {"",
                                                 "who woke it",
                                                 "who woke that one",
                                                 "3 wakes before",
                                                 "4 wakes before",
                                                 "5 wakes before, and so on"};

        add_swatch(l, words[hop], palette_hop_swatch(f->o->palette, hop));
    }
    add_swatch(l, "name of a thread", palette_thread("thread", 6));
}

/* Adds the kinds in the order in which they come up. */
static void add_kinds(struct legend *l, const struct framecolor *f, const struct layout *layout)
{
    const char *seen[KINDS];
    size_t n = 0;
    bool plain = false;

    for (size_t i = 0; i < layout->n && n < KINDS; i++) {
        uint32_t node = layout->frames[i].node;
        const struct frametree_name *name = frametree_name(f->t, node);
        struct rgb color;
        const char *what = node ? palette_kind(f->o->palette, name->s, name->len, &color) : NULL;
        size_t at = 0;

        plain |= node && !what;
        while (what && at < n && strcmp(seen[at], what) != 0)
            at++;
        if (!what || at < n)
            continue;
        seen[n++] = what;
        add_swatch(l, what, color);
    }
    if (plain && n > 0)
        add_swatch(l, "other functions", palette_swatch(f->o->palette));
    add_key(l,
            f->o->random ? "Shades tell frames apart and mean nothing"
            : f->o->hash ? "Shades are alike for names that begin alike"
            : n > 0      ? "Shades tell names apart"
                         : "Colours tell names apart and mean nothing else",
            "");
}

/* ---- layout ---- */

static void place(struct legend *l, const struct render_options *o, double width)
{
    double size = o->fontsize, gap = 0.5 * size, x = 0;
    unsigned line = 0;

    for (size_t i = 0; i < l->n; i++) {
        struct legend_key *k = &l->keys[i];
        double before =
            textfit_width(k->before, strlen(k->before), size, o->fonttype, o->fontwidth);
        double after = textfit_width(k->after, strlen(k->after), size, o->fonttype, o->fontwidth);
        double colors = k->ncolors * size, wide;

        k->color_size = size;
        wide = before + (before > 0 && colors > 0 ? gap : 0) + colors +
               (colors > 0 && after > 0 ? gap : 0) + after;
        if (x > 0 && x + wide > width) {
            x = 0;
            line++;
        }
        k->line = line;
        k->x = x;
        k->color_x = x + before + (before > 0 ? gap : 0);
        k->after_x = k->color_x + colors + (colors > 0 ? gap : 0);
        x += wide + 2 * size;
    }
    l->lines = line + 1;
    l->line_height = ceil(1.6 * size);
}

void legend_make(struct legend *l, struct framecolor *f, const struct layout *layout, double width)
{
    *l = (struct legend){0};
    if (f->o->no_legend)
        return;
    add_total(l, f);
    if (f->t->delta)
        add_scale(l, f);
    else if (f->hops)
        add_wakers(l, f, layout);
    else
        add_kinds(l, f, layout);
    place(l, f->o, width);
}

void legend_release(struct legend *l)
{
    for (size_t i = 0; i < l->n; i++) {
        free(l->keys[i].before);
        free(l->keys[i].after);
    }
    *l = (struct legend){0};
}

double legend_height(const struct legend *l)
{
    return l->lines * l->line_height;
}
