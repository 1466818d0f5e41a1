/*
 * The SVG back end: one file that opens anywhere, and is interactive in a browser.
 *
 * Each frame is a <g> with a <title> (the tooltip of every viewer), a <rect> and a <text>, as
 * tools that read flame graphs expect. Positions are there twice: as pixels for viewers without
 * scripts, and as exact counts (data-x, data-w, data-d) from which the script lays frames out
 * anew at any zoom without rounding. Frames are in pre-order, so the script finds a subtree as a
 * range.
 *
 * Rejected: letting the script build all frames from a table, which is smaller but leaves
 * nothing to see where scripts do not run (an <img>, a viewer, a converter).
 */
#include <errno.h>
#include <math.h>

#include "render/backends/assets.h"
#include "render/backend.h"
#include "render/backends/framecolor.h"
#include "render/backends/legend.h"
#include "render/layout.h"
#include "render/palette.h"
#include "render/backends/svgfindings.h"
#include "render/backends/textfit.h"
#include "render/text/value.h"
#include "render/text/xml.h"

#define PAD_X 10.0
#define LABEL_PAD 3.0
#define TITLE_CHARS 1000 /* of a name in a tooltip */
#define FLUSH_AT (64u << 10)

struct page {
    FILE *out;
    struct strbuf sb, value; /* text to be written; the numbers of one tooltip */
    struct framecolor colors;
    struct findings findings;
    const struct frametree *t;
    const struct render_options *o;
    struct layout l;
    struct legend legend;
    double top, bottom, status, height; /* pixels above and below the frames, of the line at the
                                           lower edge, and of the whole picture */
    double total, before;               /* of the root; in a comparison also before */
    int err;                            /* of the stream, once it failed */
};

static void add_text(struct strbuf *sb, const char *s)
{
    xml_add(sb, s, strlen(s), 0);
}

static void add_attr_px(struct strbuf *sb, const char *name, double v)
{
    strbuf_addch(sb, ' ');
    strbuf_addstr(sb, name);
    strbuf_addstr(sb, "=\"");
    value_add_fixed2(sb, v);
    strbuf_addch(sb, '"');
}

static void add_attr_hex(struct strbuf *sb, const char *name, struct rgb c)
{
    static const char hex[] = "0123456789abcdef";
    char text[7] = {'#',           hex[c.r >> 4], hex[c.r & 15], hex[c.g >> 4],
                    hex[c.g & 15], hex[c.b >> 4], hex[c.b & 15]};

    strbuf_addch(sb, ' ');
    strbuf_addstr(sb, name);
    strbuf_addstr(sb, "=\"");
    strbuf_add(sb, text, sizeof text);
    strbuf_addch(sb, '"');
}

static void flush(struct page *p)
{
    if (!p->err && fwrite(p->sb.buf, 1, p->sb.len, p->out) != p->sb.len)
        p->err = errno ? -errno : -EIO;
    strbuf_clear(&p->sb);
}

static void measure(struct page *p)
{
    const struct render_options *o = p->o;
    double inner = o->width - 2 * PAD_X;

    p->total = folded_count_double(frametree_total(p->t, 0));
    p->before = p->t->delta ? difference_before(p->t) : 0;
    layout_make(&p->l, p->t, inner, o->minwidth_percent ? o->minwidth / 100 * inner : o->minwidth);
    for (size_t i = 0; i < p->l.n; i++)
        framecolor_see(&p->colors, p->l.frames[i].node);
    legend_make(&p->legend, &p->colors, &p->l, inner);
    p->top = o->fontsize * 3 + (*o->subtitle ? o->fontsize * 2 : 0);
    p->top += svgfindings_height(&p->findings, o);
    p->status = o->fontsize * 2 + 10;
    p->bottom = p->status;
    /* The legend lies beside the root: a picture higher than the window opens there. */
    *(o->inverted ? &p->top : &p->bottom) += legend_height(&p->legend);
    p->height = p->top + p->bottom + (p->l.depth + 1.0) * o->frame_height;
}

/* Adds the notes as a comment, like flamegraph.pl; "--" would end it, and is replaced. */
static void add_notes(struct strbuf *sb, const char *notes)
{
    size_t begin;

    if (!*notes)
        return;
    strbuf_addstr(sb, "<!-- NOTES: ");
    begin = sb->len;
    add_text(sb, notes);
    for (size_t i = begin + 1; i < sb->len; i++)
        if (sb->buf[i] == '-' && sb->buf[i - 1] == '-')
            sb->buf[i] = '_';
    strbuf_addstr(sb, " -->\n");
}

static void add_head(struct page *p)
{
    static const struct rgb paper[2] = {{0xfb, 0xfb, 0xf9}, {0xee, 0xee, 0xe8}};
    const struct render_options *o = p->o;
    struct strbuf *sb = &p->sb;

    strbuf_addstr(sb, "<?xml version=\"1.0\" encoding=\"UTF-8\" standalone=\"no\"?>\n<svg");
    add_attr_px(sb, "width", o->width);
    add_attr_px(sb, "height", p->height);
    strbuf_addstr(sb, " viewBox=\"0 0 ");
    value_add_fixed2(sb, o->width);
    strbuf_addch(sb, ' ');
    value_add_fixed2(sb, p->height);
    strbuf_addstr(sb, "\" xmlns=\"http://www.w3.org/2000/svg\" data-nametype=\"");
    add_text(sb, o->nametype);
    strbuf_addf(sb, "\" data-inverted=\"%d\" data-fluid=\"%d\"", o->inverted, o->fluid);
    add_attr_px(sb, "data-fontsize", o->fontsize);
    strbuf_addstr(sb, ">\n");
    add_notes(sb, o->notes);
    strbuf_addstr(sb, "<style type=\"text/css\"><![CDATA[\n");
    strbuf_add(sb, asset_svg_css, asset_svg_css_len());
    if (!o->own_background)
        strbuf_add(sb, asset_svg_dark_css, asset_svg_dark_css_len());
    strbuf_addstr(sb, "]]></style>\n<defs><linearGradient id=\"paper\" x1=\"0\" y1=\"0\" x2=\"0\" "
                      "y2=\"1\"><stop class=\"paper1\" offset=\"0%\"");
    add_attr_hex(sb, "stop-color", o->own_background ? o->background[0] : paper[0]);
    strbuf_addstr(sb, "/><stop class=\"paper2\" offset=\"100%\"");
    add_attr_hex(sb, "stop-color", o->own_background ? o->background[1] : paper[1]);
    strbuf_addstr(sb, "/></linearGradient></defs>\n<rect id=\"background\" width=\"100%\" "
                      "height=\"100%\" fill=\"url(#paper)\"/>\n");
}

static void add_label(struct page *p, const char *id, const char *anchor, double x, double y,
                      double size, const char *text)
{
    struct strbuf *sb = &p->sb;

    strbuf_addf(sb, "<text id=\"%s\" text-anchor=\"%s\"", id, anchor);
    add_attr_px(sb, "x", x);
    add_attr_px(sb, "y", y);
    add_attr_px(sb, "font-size", size);
    strbuf_addch(sb, '>');
    add_text(sb, text);
    strbuf_addstr(sb, "</text>\n");
}

static void add_titles(struct page *p)
{
    const struct render_options *o = p->o;
    double size = o->fontsize, middle = o->width / 2;

    add_label(p, "title", "middle", middle, size * 2, size + 5, o->title);
    if (*o->subtitle)
        add_label(p, "subtitle", "middle", middle, size * 4, size, o->subtitle);
}

/*
 * Adds the toolbar and the line that shows details. The script moves both with the window, so
 * they come after the frames, over which they may lie then.
 */
static void add_bars(struct page *p)
{
    const struct render_options *o = p->o;
    double size = o->fontsize, w = o->width;

    strbuf_addstr(&p->sb, "<g id=\"toolbar\">\n<rect id=\"toolbarbar\" width=\"100%\"");
    add_attr_px(&p->sb, "height", size * 3 - 2);
    strbuf_addstr(&p->sb, " fill=\"none\"/>\n");
    add_label(p, "unzoom", "start", PAD_X, size * 2, size, "Reset Zoom");
    add_label(p, "search", "end", w - PAD_X - size * 4, size * 2, size, "Search");
    add_label(p, "regex", "end", w - PAD_X - size * 2, size * 2, size, ".*");
    add_label(p, "ignorecase", "end", w - PAD_X, size * 2, size, "ic");
    strbuf_addstr(&p->sb, "</g>\n<g id=\"status\">\n<rect id=\"statusbar\" x=\"0\" width=\"100%\"");
    add_attr_px(&p->sb, "y", p->height - p->status + 2);
    add_attr_px(&p->sb, "height", p->status - 2);
    strbuf_addstr(&p->sb, " fill=\"none\"/>\n");
    add_label(p, "details", "start", PAD_X, p->height - p->status / 2 + size / 2, size, "");
    add_label(p, "matched", "end", w - PAD_X, p->height - p->status / 2 + size / 2, size, "");
    strbuf_addstr(&p->sb, "</g>\n");
}

/* Adds one text of a key; nothing for an empty one. */
static void add_key_text(struct page *p, double x, double y, const char *text)
{
    if (!*text)
        return;
    strbuf_addstr(&p->sb, "<text");
    add_attr_px(&p->sb, "x", x);
    add_attr_px(&p->sb, "y", y);
    strbuf_addch(&p->sb, '>');
    add_text(&p->sb, text);
    strbuf_addstr(&p->sb, "</text>");
}

/* Adds total and colours. The script places the keys anew where the window is narrower. */
static void add_legend(struct page *p)
{
    const struct legend *l = &p->legend;
    double size = p->o->fontsize;
    double first = p->o->inverted ? p->top - legend_height(l) : p->height - p->bottom;

    if (!l->lines)
        return;
    strbuf_addstr(&p->sb, "<g id=\"legend\"");
    add_attr_px(&p->sb, "font-size", size);
    add_attr_px(&p->sb, "data-line", l->line_height);
    add_attr_px(&p->sb, "data-y", first + l->line_height - 0.3 * size);
    strbuf_addf(&p->sb, " data-lines=\"%u\">\n", l->lines);
    for (size_t i = 0; i < l->n; i++) {
        const struct legend_key *k = &l->keys[i];
        double y = first + (k->line + 1) * l->line_height - 0.3 * size;

        strbuf_addstr(&p->sb, "<g>");
        add_key_text(p, PAD_X + k->x, y, k->before);
        for (unsigned c = 0; c < k->ncolors; c++) {
            strbuf_addstr(&p->sb, "<rect");
            add_attr_px(&p->sb, "x", PAD_X + k->color_x + c * k->color_size);
            add_attr_px(&p->sb, "y", y - 0.85 * size);
            add_attr_px(&p->sb, "width", k->color_size);
            add_attr_px(&p->sb, "height", k->color_size);
            add_attr_hex(&p->sb, "fill", k->colors[c]);
            strbuf_addstr(&p->sb, "/>");
        }
        add_key_text(p, PAD_X + k->after_x, y, k->after);
        strbuf_addstr(&p->sb, "</g>\n");
    }
    strbuf_addstr(&p->sb, "</g>\n");
}

static struct folded_count shown_count(const struct page *p, struct folded_count c)
{
    double v;

    if (p->o->factor == 1)
        return c;
    v = folded_count_double(c) * p->o->factor;
    if (v >= 18446744073709551615.0)
        return (struct folded_count){UINT64_MAX, 0};
    return (struct folded_count){(uint64_t)v, v - floor(v)};
}

/* Appends a frame's change, behind its share of the total. */
static void add_change(struct page *p, struct strbuf *sb, uint32_t node)
{
    const struct render_options *o = p->o;
    struct change c = framecolor_change(&p->colors, node);
    double by = (c.now - c.was) * (o->negate ? -1 : 1);
    bool relative = o->change == DIFFERENCE_RELATIVE;
    double all = relative ? c.was : p->before, percent = 100 * by / (all > 0 ? all : 1);

    if (o->change == DIFFERENCE_RATIO && c.was > 0)
        strbuf_addf(sb, "; ratio %.3f", c.now / c.was);
    else if (o->change == DIFFERENCE_RATIO)
        strbuf_addstr(sb, "; no ratio");
    else if (by != 0 && all <= 0)
        strbuf_addstr(sb, "; new");
    else
        strbuf_addf(sb, percent > 0 ? "; +%.2f%% of %s" : "; %.2f%% of %s", by == 0 ? 0.0 : percent,
                    relative ? "itself" : "all before");
}

static void add_tooltip(struct page *p, uint32_t node, const char *name, size_t len)
{
    struct strbuf *sb = &p->sb, *value = &p->value;
    struct folded_count total = frametree_total(p->t, node);

    xml_add(sb, name, len, TITLE_CHARS);
    strbuf_clear(value);
    value_add_both(value, shown_count(p, total), p->o->countname);
    strbuf_addstr(value, ", ");
    if (node == 0)
        strbuf_addstr(value, "100%"); /* as in flamegraph.pl, for scripts that read titles */
    else
        value_add_percent(value, folded_count_double(total), p->total);
    if (p->t->delta && node)
        add_change(p, value, node);
    strbuf_addstr(sb, " (");
    xml_add(sb, value->buf, value->len, 0);
    strbuf_addch(sb, ')');
}

/* Opens <g>, inside <a> where the name's attributes ask for a link. */
static void open_group(struct page *p, const struct nameattr *attr)
{
    const char *href = nameattr_get(attr, "href"), *target = nameattr_get(attr, "target");
    struct strbuf *sb = &p->sb;

    if (href) {
        strbuf_addstr(sb, "<a href=\"");
        add_text(sb, href);
        strbuf_addstr(sb, "\" target=\"");
        add_text(sb, target ? target : "_top");
        strbuf_addstr(sb, "\">");
    }
    strbuf_addstr(sb, "<g");
    if (attr)
        nameattr_add(sb, attr);
}

static void close_group(struct page *p, const struct nameattr *attr)
{
    strbuf_addstr(&p->sb, nameattr_get(attr, "href") ? "</g></a>\n" : "</g>\n");
}

static void add_frame(struct page *p, const struct layout_frame *f)
{
    const struct render_options *o = p->o;
    const struct frametree_name *n = frametree_name(p->t, f->node);
    size_t len = palette_strip_mark(n->s, n->len), fits;
    double level = o->inverted ? f->depth : p->l.depth - f->depth;
    double x = PAD_X + f->x, y = p->top + level * o->frame_height;
    const struct nameattr *attr = nameattr_find(o->nameattr, n->s, n->len);
    const char *title = nameattr_get(attr, "title");
    enum frame_sign sign = framecolor_sign(&p->colors, f->node);
    const char *prefix = framecolor_label(sign);
    double room = f->width - 2 * LABEL_PAD - (*prefix ? o->fontsize * 1.2 : 0);
    struct strbuf *sb = &p->sb;

    open_group(p, attr);
    strbuf_addstr(sb, " data-x=\"");
    value_add_number(sb, f->start, false);
    strbuf_addstr(sb, "\" data-w=\"");
    value_add_number(sb, frametree_total(p->t, f->node), false);
    strbuf_addstr(sb, "\" data-d=\"");
    value_add_number(sb, (struct folded_count){f->depth, 0}, false);
    strbuf_addch(sb, '"');
    if (sign != FRAME_PLAIN)
        strbuf_addf(sb, " data-c=\"%c\"", "=+-nga"[sign]);
    strbuf_addstr(sb, "><title>");
    if (title)
        add_text(sb, title);
    else
        add_tooltip(p, f->node, n->s, len);
    strbuf_addstr(sb, "</title><rect");
    add_attr_px(sb, "x", x);
    add_attr_px(sb, "y", y);
    add_attr_px(sb, "width", f->width);
    add_attr_px(sb, "height", o->frame_height - 1);
    add_attr_hex(sb, "fill", framecolor_of(&p->colors, f->node));
    fits = textfit(n->s, len, sign == FRAME_THREAD ? room / 1.15 : room, o->fontsize, o->fonttype,
                   o->fontwidth);
    if (fits == 0) { /* most frames of a large picture; the script places it when there is room */
        strbuf_addstr(sb, "/><text/>");
        close_group(p, attr);
        return;
    }
    strbuf_addstr(sb, "/><text");
    add_attr_px(sb, "x", x + LABEL_PAD);
    add_attr_px(sb, "y", y + (o->frame_height - 1) / 2 + o->fontsize * 0.36);
    strbuf_addch(sb, '>');
    strbuf_addstr(sb, prefix);
    xml_add(sb, n->s, fits, 0);
    strbuf_addstr(sb, fits < len ? "..</text>" : "</text>");
    close_group(p, attr);
}

static void add_frames(struct page *p)
{
    strbuf_addstr(&p->sb, "<g id=\"frames\" font-family=\"");
    add_text(&p->sb, p->o->fonttype);
    if (strspn(p->o->fonttype, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ ") ==
        strlen(p->o->fonttype))
        strbuf_addstr(&p->sb, ", sans-serif"); /* where that font is not */
    strbuf_addch(&p->sb, '"');
    add_attr_px(&p->sb, "font-size", p->o->fontsize);
    strbuf_addstr(&p->sb, ">\n");
    for (size_t i = 0; i < p->l.n && !p->err; i++) {
        add_frame(p, &p->l.frames[i]);
        if (p->sb.len > FLUSH_AT)
            flush(p);
    }
    strbuf_addstr(&p->sb, "</g>\n");
}

static int svg_write(FILE *out, const struct frametree *t, const struct render_options *o)
{
    struct page p = {.out = out, .sb = STRBUF_INIT, .value = STRBUF_INIT, .t = t, .o = o};

    framecolor_init(&p.colors, t, o);
    findings_make(&p.findings, t, o, false);
    measure(&p);
    add_head(&p);
    add_titles(&p);
    svgfindings_add(&p.sb, &p.findings, t, o, &p.l, PAD_X,
                    p.top - svgfindings_height(&p.findings, o) -
                        (o->inverted ? legend_height(&p.legend) : 0),
                    o->width - 2 * PAD_X);
    add_frames(&p);
    add_legend(&p);
    add_bars(&p);
    strbuf_addstr(&p.sb, "<script type=\"text/ecmascript\"><![CDATA[\n\"use strict\";\n(() => {\n");
    strbuf_add(&p.sb, asset_svg_js, asset_svg_js_len());
    strbuf_addstr(&p.sb, "})();\n]]></script>\n</svg>\n");
    flush(&p);
    strbuf_release(&p.sb);
    strbuf_release(&p.value);
    legend_release(&p.legend);
    framecolor_release(&p.colors);
    findings_release(&p.findings);
    layout_release(&p.l);
    return p.err;
}

const struct render_backend render_svg = {
    .name = "svg",
    .is_browsed = true,
    .what = "interactive picture for browsers, self-contained",
    .write = svg_write,
};
