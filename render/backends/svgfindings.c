#include "render/backends/svgfindings.h"

#include <inttypes.h>
#include <stdlib.h>

#include "common/alloc.h"
#include "render/backends/textfit.h"
#include "render/palette.h"
#include "render/text/value.h"
#include "render/text/xml.h"

#define LINE 1.5        /* font sizes from one to the next */
#define GAP 0.5         /* below the last */
#define PATH_BYTES 6000 /* as LONG in svg_frames.js */
#define NAME_BYTES 1000 /* as TITLE_CHARS in svg.c: longer names are cut there */

static size_t shown(const struct findings *f)
{
    return f->n < SVG_FINDINGS ? f->n : SVG_FINDINGS;
}

double svgfindings_height(const struct findings *f, const struct render_options *o)
{
    return f->n ? ((double)shown(f) * LINE + GAP) * o->fontsize : 0;
}

/* ---- where a link leads ---- */

/* The frames from the root's callee to `node`; the caller frees them. */
static uint32_t *path_to(const struct frametree *t, uint32_t node, size_t *n)
{
    uint32_t *path, at = node;

    for (*n = 0; at; at = t->nodes[at].parent)
        ++*n;
    path = xcalloc(*n + 1, sizeof *path);
    at = node;
    for (size_t i = *n; i-- > 0; at = t->nodes[at].parent)
        path[i] = at;
    return path;
}

/* Appends a name for an address. False: it has more than plain characters. */
static bool add_name(struct strbuf *sb, const char *s, size_t len)
{
    static const char plain[] =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.~";

    if (len > NAME_BYTES)
        return false;
    for (size_t i = 0; i < len; i++) {
        if (s[i] < ' ' || s[i] > '~')
            return false;
        if (strchr(plain, s[i]))
            strbuf_addch(sb, s[i]);
        else
            strbuf_addf(sb, "%%%02X", (unsigned)s[i]);
    }
    return true;
}

/* By names, which another run's picture has as well. False: they are not fit for that. */
static bool add_path(struct strbuf *sb, const struct frametree *t, uint32_t node)
{
    size_t n, before = sb->len;
    uint32_t *path = path_to(t, node, &n);
    bool good = true;

    strbuf_addstr(sb, "#p=");
    for (size_t i = 0; i < n && good; i++) {
        const struct frametree_name *name = frametree_name(t, path[i]);

        if (i)
            strbuf_addstr(sb, "%3B");
        good = add_name(sb, name->s, palette_strip_mark(name->s, name->len)) &&
               sb->len - before <= PATH_BYTES;
    }
    if (!good)
        strbuf_setlen(sb, before);
    free(path);
    return good;
}

/* By place: that of the nearest caller that is drawn. */
static void add_place(struct strbuf *sb, const struct frametree *t, const struct layout *l,
                      uint32_t node)
{
    for (; node; node = t->nodes[node].parent)
        for (size_t i = 0; i < l->n; i++)
            if (l->frames[i].node == node) {
                strbuf_addstr(sb, "#x=");
                value_add_number(sb, l->frames[i].start, false);
                strbuf_addf(sb, "&amp;y=%" PRIu32, l->frames[i].depth);
                return;
            }
    strbuf_addstr(sb, "#");
}

/* ---- the lines ---- */

static void add_attr(struct strbuf *sb, const char *name, double v)
{
    strbuf_addf(sb, " %s=\"", name);
    value_add_fixed2(sb, v);
    strbuf_addstr(sb, "\"");
}

void svgfindings_add(struct strbuf *sb, const struct findings *f, const struct frametree *t,
                     const struct render_options *o, const struct layout *l, double x, double y,
                     double room)
{
    if (!f->n)
        return;
    strbuf_addstr(sb, "<g id=\"findings\"");
    add_attr(sb, "font-size", o->fontsize);
    strbuf_addstr(sb, ">\n");
    for (size_t i = 0; i < shown(f); i++) {
        const char *text = f->f[i].text;
        size_t len = strlen(text),
               fits = textfit(text, len, room, o->fontsize, o->fonttype, o->fontwidth);

        strbuf_addstr(sb, "<a href=\"");
        if (!f->f[i].node)
            strbuf_addstr(sb, "#");
        else if (!add_path(sb, t, f->f[i].node))
            add_place(sb, t, l, f->f[i].node);
        strbuf_addstr(sb, "\"><title>");
        xml_add(sb, text, len, 0);
        strbuf_addstr(sb, "</title><text");
        add_attr(sb, "x", x);
        add_attr(sb, "y", y + ((double)i * LINE + 1) * o->fontsize);
        strbuf_addstr(sb, ">");
        xml_add(sb, text, fits, 0);
        strbuf_addstr(sb, fits < len ? "..</text></a>\n" : "</text></a>\n");
    }
    strbuf_addstr(sb, "</g>\n");
}
