/*
 * The PNG back end: the SVG's picture as pixels, for chats, issues and paper.
 *
 * Drawn by cairo from the same layout, colours and text widths as the SVG. A frame is clipped to
 * its box, as no width that was computed before is exact for the font that fontconfig finds.
 * `scale` pixels correspond to one of the SVG's.
 *
 * cairo's images end at 32767 pixels each way; a higher picture (a stack of thousands of frames)
 * is drawn with lower rows to fit.
 *
 * Rejected: rendering the SVG by librsvg: a parser of everything SVG, to read back data that was
 * known before it was written.
 */
#include <errno.h>
#include <math.h>

#include "common/error.h"
#include "common/utf8.h"
#include "render/backend.h"
#include "render/backends/cairolib.h"
#include "render/backends/framecolor.h"
#include "render/backends/legend.h"
#include "render/layout.h"
#include "render/palette.h"
#include "render/backends/textfit.h"
#include "render/text/xml.h"

#define PAD_X 10.0
#define LABEL_PAD 3.0
#define LARGEST 32767.0
#define TEXT_CHARS 1000

struct picture {
    const struct cairolib *c;
    cairo_t *cr;
    const struct frametree *t;
    const struct render_options *o;
    struct layout l;
    struct legend legend;
    double top, height, frame_height;
    struct framecolor colors;
    struct strbuf text;
};

static cairo_status_t write_bytes(void *closure, const unsigned char *data, unsigned len)
{
    return fwrite(data, 1, len, closure) == len ? CAIRO_STATUS_SUCCESS : CAIRO_STATUS_WRITE_ERROR;
}

/* Prefix and text as cairo takes it: well-formed UTF-8 without NUL, controls or direction marks. */
static const char *clean(struct picture *p, const char *prefix, const char *s, size_t len)
{
    size_t chars = 0;

    strbuf_clear(&p->text);
    strbuf_addstr(&p->text, prefix);
    for (size_t i = 0; i < len && chars < TEXT_CHARS; chars++) {
        uint32_t cp = 0;
        size_t n = utf8_decode(s + i, len - i, &cp);

        if (n && xml_allows(cp))
            strbuf_add(&p->text, s + i, n);
        else
            strbuf_addstr(&p->text, UTF8_REPLACEMENT);
        i += n ? n : 1;
    }
    return p->text.buf;
}

static void set_color(struct picture *p, struct rgb c)
{
    p->c->cairo_set_source_rgb(p->cr, c.r / 255.0, c.g / 255.0, c.b / 255.0);
}

static void add_background(struct picture *p)
{
    static const struct rgb paper[2] = {{0xfb, 0xfb, 0xf9}, {0xee, 0xee, 0xe8}};
    const struct rgb *stops = p->o->own_background ? p->o->background : paper;
    cairo_pattern_t *shade = p->c->cairo_pattern_create_linear(0, 0, 0, p->height);

    for (int i = 0; i < 2; i++)
        p->c->cairo_pattern_add_color_stop_rgb(shade, i, stops[i].r / 255.0, stops[i].g / 255.0,
                                               stops[i].b / 255.0);
    p->c->cairo_set_source(p->cr, shade);
    p->c->cairo_paint(p->cr);
    p->c->cairo_pattern_destroy(shade);
}

static void add_title(struct picture *p, const char *title, double y, double size, bool bold)
{
    const char *text = clean(p, "", title, strlen(title));
    cairo_text_extents_t box;

    p->c->cairo_select_font_face(p->cr, p->o->fonttype, CAIRO_FONT_SLANT_NORMAL,
                                 bold ? CAIRO_FONT_WEIGHT_BOLD : CAIRO_FONT_WEIGHT_NORMAL);
    p->c->cairo_set_font_size(p->cr, size);
    p->c->cairo_text_extents(p->cr, text, &box);
    set_color(p, bold ? (struct rgb){17, 17, 17} : (struct rgb){85, 85, 85});
    p->c->cairo_move_to(p->cr, fmax(PAD_X, (p->o->width - box.x_advance) / 2), y);
    p->c->cairo_show_text(p->cr, text);
}

static void add_frame(struct picture *p, const struct layout_frame *f)
{
    const struct render_options *o = p->o;
    const struct frametree_name *n = frametree_name(p->t, f->node);
    double level = o->inverted ? f->depth : p->l.depth - f->depth, h = p->frame_height;
    double x = PAD_X + f->x, y = p->top + level * h, drawn = h > 2 ? h - 1 : h;
    size_t len = palette_strip_mark(n->s, n->len), fits;
    struct rgb fill = framecolor_of(&p->colors, f->node);
    bool dark = fill.r * 3 + fill.g * 6 + fill.b < 1100;
    enum frame_sign sign = framecolor_sign(&p->colors, f->node);
    const char *prefix = framecolor_label(sign);

    set_color(p, fill);
    /* A seam keeps neighbours of one colour apart. */
    p->c->cairo_rectangle(p->cr, x, y, f->width > 3 ? f->width - 0.5 : f->width, drawn);
    p->c->cairo_fill(p->cr);
    fits = h < o->fontsize
               ? 0
               : textfit(n->s, len, f->width - 2 * LABEL_PAD - (*prefix ? o->fontsize * 1.2 : 0),
                         o->fontsize, o->fonttype, o->fontwidth);
    if (sign == FRAME_NEW) {
        set_color(p, (struct rgb){120, 120, 120});
        p->c->cairo_rectangle(p->cr, x, y + drawn - 1, f->width, 1);
        p->c->cairo_fill(p->cr);
    }
    if (fits == 0)
        return;
    clean(p, prefix, n->s, fits);
    if (fits < len)
        strbuf_addstr(&p->text, "..");
    p->c->cairo_save(p->cr);
    p->c->cairo_rectangle(p->cr, x, y, f->width, drawn);
    p->c->cairo_clip(p->cr);
    set_color(p, dark ? (struct rgb){255, 255, 255} : (struct rgb){17, 17, 17});
    p->c->cairo_move_to(p->cr, x + LABEL_PAD, y + drawn / 2 + o->fontsize * 0.36);
    p->c->cairo_show_text(p->cr, p->text.buf);
    p->c->cairo_restore(p->cr);
}

static void measure(struct picture *p)
{
    const struct render_options *o = p->o;
    double inner = o->width - 2 * PAD_X, rows, room, below;

    layout_make(&p->l, p->t, inner, o->minwidth_percent ? o->minwidth / 100 * inner : o->minwidth);
    for (size_t i = 0; i < p->l.n; i++)
        framecolor_see(&p->colors, p->l.frames[i].node);
    legend_make(&p->legend, &p->colors, &p->l, inner);
    rows = p->l.depth + 1.0;
    p->top = o->fontsize * 3 + (*o->subtitle ? o->fontsize * 2 : 0);
    below = PAD_X;
    *(o->inverted ? &p->top : &below) += legend_height(&p->legend);
    room = LARGEST / o->scale - p->top - below;
    p->frame_height = fmin(o->frame_height, room / rows);
    p->height = p->top + rows * p->frame_height + below;
}

static void add_legend(struct picture *p)
{
    const struct legend *l = &p->legend;
    double size = p->o->fontsize;
    double first =
        p->o->inverted ? p->top - legend_height(l) : p->height - PAD_X - legend_height(l);

    for (size_t i = 0; i < l->n; i++) {
        const struct legend_key *k = &l->keys[i];
        double y = first + (k->line + 1) * l->line_height - 0.3 * size;

        for (unsigned c = 0; c < k->ncolors; c++) {
            set_color(p, k->colors[c]);
            p->c->cairo_rectangle(p->cr, PAD_X + k->color_x + c * k->color_size, y - 0.85 * size,
                                  k->color_size, k->color_size);
            p->c->cairo_fill(p->cr);
        }
        set_color(p, (struct rgb){68, 68, 68});
        p->c->cairo_move_to(p->cr, PAD_X + k->x, y);
        p->c->cairo_show_text(p->cr, clean(p, "", k->before, strlen(k->before)));
        p->c->cairo_move_to(p->cr, PAD_X + k->after_x, y);
        p->c->cairo_show_text(p->cr, clean(p, "", k->after, strlen(k->after)));
    }
}

static void draw(struct picture *p)
{
    const struct render_options *o = p->o;

    p->c->cairo_scale(p->cr, o->scale, o->scale);
    add_background(p);
    add_title(p, o->title, o->fontsize * 2, o->fontsize + 5, true);
    if (*o->subtitle)
        add_title(p, o->subtitle, o->fontsize * 4, o->fontsize, false);
    p->c->cairo_select_font_face(p->cr, o->fonttype, CAIRO_FONT_SLANT_NORMAL,
                                 CAIRO_FONT_WEIGHT_NORMAL);
    p->c->cairo_set_font_size(p->cr, o->fontsize);
    for (size_t i = 0; i < p->l.n; i++)
        add_frame(p, &p->l.frames[i]);
    add_legend(p);
}

static int png_write(FILE *out, const struct frametree *t, const struct render_options *o)
{
    struct picture p = {.c = cairolib_open(), .t = t, .o = o, .text = STRBUF_INIT};
    cairo_surface_t *surface;
    cairo_status_t status;

    if (!p.c) {
        flame_warn("png needs the library libcairo.so.2 (Debian: libcairo2)");
        return -ENOPKG;
    }
    framecolor_init(&p.colors, t, o);
    measure(&p);
    surface = p.c->cairo_image_surface_create(CAIRO_FORMAT_RGB24,
                                              (int)fmin(ceil(o->width * o->scale), LARGEST),
                                              (int)fmin(ceil(p.height * o->scale), LARGEST));
    p.cr = p.c->cairo_create(surface);
    draw(&p);
    status = p.c->cairo_status(p.cr);
    errno = 0;
    if (!status)
        status = p.c->cairo_surface_write_to_png_stream(surface, write_bytes, out);
    p.c->cairo_destroy(p.cr);
    p.c->cairo_surface_destroy(surface);
    cairolib_clear(p.c);
    strbuf_release(&p.text);
    legend_release(&p.legend);
    layout_release(&p.l);
    framecolor_release(&p.colors);
    if (status == CAIRO_STATUS_NO_MEMORY)
        return -ENOMEM;
    return status == CAIRO_STATUS_SUCCESS ? 0 : errno ? -errno : -EIO;
}

const struct render_backend render_png = {
    .name = "png",
    .is_browsed = true,
    .what = "picture in pixels; --scale 2 for fine screens and paper",
    .write = png_write,
};
