#include "render/export/wholevalues.h"

#include <stdlib.h>

#include "common/alloc.h"
#include "render/export/exporttext.h"
#include "render/text/value.h"

/* The word that pprof's own profiles have for numbers of things: "count". */
static const char *unit_word(const char *unit)
{
    return strcmp(unit, "calls") == 0 || strcmp(unit, "samples") == 0 ? "count" : unit;
}

static void find_unit(struct wholevalues *w, uint32_t i, const char *format)
{
    int time = value_time_unit(w->set.s[i].unit);
    bool whole = !series_has_fractions(&w->set, i);

    /* Both sides of a comparison have one unit. */
    if (w->set.compares && i < 2)
        whole = !series_has_fractions(&w->set, 0) && !series_has_fractions(&w->set, 1);
    w->scale[i] = 1;
    for (int k = 0; !whole && k < time; k++)
        w->scale[i] *= 1000;
    if (!whole && time < 0)
        exporttext_warn_rounded(format, &w->set, i);
    w->unit[i] = unit_word(!whole && time >= 0 ? "nanoseconds" : w->set.s[i].unit);
}

void wholevalues_init(struct wholevalues *w, const struct frametree *t,
                      const struct render_options *o, const char *format)
{
    series_init(&w->set, t, o, SERIES_BOTH_SIDES);
    w->n = w->set.n + w->set.compares;
    w->values = xcalloc(w->n, sizeof *w->values);
    w->scale = xcalloc(w->n, sizeof *w->scale);
    w->carry = xcalloc(w->n, sizeof *w->carry);
    w->unit = xcalloc(w->n, sizeof *w->unit);
    for (uint32_t i = 0; i < w->set.n; i++)
        find_unit(w, i, format);
    if (w->set.compares)
        w->unit[w->set.n] = w->unit[0];
    exporttext_warn_large(format, &w->set);
}

void wholevalues_release(struct wholevalues *w)
{
    free(w->values);
    free(w->scale);
    free(w->carry);
    free(w->unit);
    series_release(&w->set);
}

const char *wholevalues_name(const struct wholevalues *w, uint32_t kind, struct strbuf *sb)
{
    static const char *const known[][2] = {
        {"alloc", "alloc_space"}, {"count", "alloc_objects"}, {"live", "inuse_space"},
        {"peak", "peak_space"},   {"temp", "temp_objects"},
    };
    bool growth = kind == w->set.n, before = !growth && w->set.s[kind].before;
    const char *name = w->set.s[growth || (w->set.compares && kind == 1) ? 0 : kind].name;

    for (size_t k = 0; k < ARRAY_LEN(known); k++)
        if (strcmp(name, known[k][0]) == 0)
            name = known[k][1];
    strbuf_clear(sb);
    strbuf_addf(sb, "%s%s", name, growth ? "_growth" : before ? "_before" : "");
    return sb->buf;
}

bool wholevalues_take(struct wholevalues *w, uint32_t node)
{
    bool some = false;

    if (!series_any_self(&w->set, node))
        return false;
    for (uint32_t i = 0; i < w->set.n; i++) {
        struct folded_count c = series_self(&w->set, i, node);

        if (w->scale[i] != 1)
            c = series_count(folded_count_double(c) * w->scale[i]);
        w->values[i] = series_round(c, &w->carry[i]);
        some |= w->values[i] != 0;
    }
    if (w->set.compares)
        w->values[w->set.n] = w->values[0] - w->values[1];
    return some;
}
