#include "render/view/viewdraw.h"

#include <math.h>
#include <stdlib.h>

#include "render/text/value.h"
#include "render/view/viewkeys.h"

#define ELLIPSIS "\xe2\x80\xa6"
#define EDGE "\xe2\x96\x8f" /* the left eighth of a column */

static const struct cell_look plain = {.attributes = 0};
static const struct cell_look strong = {.attributes = CELL_BOLD};
static const struct cell_look bar = {.attributes = CELL_REVERSE};
/* The colour of matches of a search, as in pages. */
static const struct rgb found = {230, 0, 230};

/* ---- counts ---- */

static struct folded_count as_count(double v)
{
    double whole = floor(fabs(v));

    return (struct folded_count){whole < 1.8e19 ? (uint64_t)whole : UINT64_MAX, fabs(v) - whole};
}

static void add_value(struct strbuf *sb, double v, const char *unit)
{
    if (v < 0)
        strbuf_addch(sb, '-');
    if (value_add_human(sb, as_count(v), unit))
        return;
    value_add_number(sb, as_count(v), true);
    if (strcmp(unit, "bytes") == 0)
        strbuf_addstr(sb, "   B"); /* in line with KiB and MiB */
}

static void add_both(struct strbuf *sb, double v, const char *unit)
{
    if (v < 0)
        strbuf_addch(sb, '-');
    value_add_both(sb, as_count(v), unit);
}

/* Appends a value like add_value, without alignment for columns. */
static void add_short(struct strbuf *sb, double v, const char *unit)
{
    size_t before = sb->len;

    if (v < 0)
        strbuf_addch(sb, '-');
    if (value_add_human(sb, as_count(v), unit))
        return;
    strbuf_setlen(sb, before);
    add_both(sb, v, unit);
}

static void add_share(struct strbuf *sb, double v, double all)
{
    if (v < 0)
        strbuf_addch(sb, '-');
    value_add_percent(sb, fabs(v), fabs(all));
}

static void put_right(struct cells *c, int y, int end, int width, const struct strbuf *text,
                      struct cell_look look)
{
    int columns = (int)cells_columns(c, text->buf, text->len);
    int x = end - (columns < width ? columns : width);

    cells_put(c, y, x, width, text->buf, text->len, look);
}

/* ---- top and bottom ---- */

static void draw_title(const struct viewmodel *m, struct cells *c)
{
    const struct view_column *column = viewmodel_column(m);
    struct strbuf left = STRBUF_INIT, right = STRBUF_INIT;
    int room;

    cells_fill(c, 0, 0, c->width, bar);
    if (m->live && m->interval)
        strbuf_addstr(&left, "In the last look: ");
    strbuf_addf(&left, "%s: ", column->title);
    add_both(&left, m->all.tree.total[0], column->unit);
    if (*m->source->note)
        strbuf_addf(&left, "; %s", m->source->note);
    if (m->paused)
        strbuf_addstr(&right, "[paused] ");
    strbuf_addstr(&right, m->source->label);
    if (m->source->ncolumns > 1)
        strbuf_addf(&right, "  view %u/%u %s", m->column + 1, m->source->ncolumns, column->name);
    room = c->width - (int)cells_columns(c, left.buf, left.len) - 2;
    if (room > 8)
        put_right(c, 0, c->width, room, &right, bar);
    cells_put(c, 0, 0, c->width, left.buf, left.len, bar);
    strbuf_release(&left);
    strbuf_release(&right);
}

/* The counts of the chosen function, in any mode. */
static void numbers_of_chosen(const struct viewmodel *m, double *self, double *total)
{
    const struct view_pane *pane = viewmodel_pane((struct viewmodel *)m);

    *self = *total = 0;
    if (m->mode != VIEW_MODE_TABLE) {
        *self = pane->tree.self[pane->chosen];
        *total = pane->tree.total[pane->chosen];
    } else if (m->row < m->nrows) {
        *self = m->rows[m->row].self;
        *total = m->rows[m->row].total;
    }
}

static void draw_details(const struct viewmodel *m, struct cells *c, int y)
{
    const struct frametree_name *name = &m->source->tree->names[viewmodel_chosen_name(m)];
    const char *unit = viewmodel_column(m)->unit;
    const struct view_pane *pane = viewmodel_pane((struct viewmodel *)m);
    double self, total, all = m->all.tree.total[0];
    struct strbuf sb = STRBUF_INIT;

    numbers_of_chosen(m, &self, &total);
    cells_put(c, y, 0, c->width, name->s, name->len, strong);
    strbuf_addstr(&sb, "total ");
    add_both(&sb, total, unit);
    strbuf_addstr(&sb, " (");
    add_share(&sb, total, all);
    strbuf_addch(&sb, ')');
    if (m->mode != VIEW_MODE_TABLE && pane->zoom) {
        strbuf_addstr(&sb, ", ");
        add_share(&sb, total, pane->tree.total[pane->zoom]);
        strbuf_addstr(&sb, " of the zoom");
    }
    if (m->mode != VIEW_MODE_AROUND || !m->in_callers) { /* a caller's own counts are not counted
                                                            here */
        strbuf_addstr(&sb, "; self ");
        add_short(&sb, self, unit);
        strbuf_addstr(&sb, " (");
        add_share(&sb, self, all);
        strbuf_addch(&sb, ')');
    }
    if (m->mode == VIEW_MODE_TABLE && m->row < m->nrows && viewmodel_column(m)->rate) {
        strbuf_addstr(&sb, "; total/s ");
        add_short(&sb, round(m->rows[m->row].total_rate), unit);
        strbuf_addstr(&sb, ", self/s ");
        add_short(&sb, round(m->rows[m->row].self_rate), unit);
    }
    cells_put(c, y + 1, 0, c->width, sb.buf, sb.len, plain);
    strbuf_release(&sb);
}

static void draw_last_line(const struct viewmodel *m, struct cells *c, int y)
{
    static const char ends[] = "? help  q end  ";
    static const char graph[] =
        "/ search  Enter zoom in  - out  t table  c callers  v view  f names";
    static const char table[] = "/ search  s sort  Enter callers  g graph  v view  f names";
    const char *keys = m->mode == VIEW_MODE_TABLE ? table : graph;
    struct strbuf sb = STRBUF_INIT;

    if (m->asking) {
        int used = cells_put_text(c, y, 0, c->width, "search: ", strong);
        size_t at = 0; /* a long text shows its end */

        while (used + (int)cells_columns(c, m->typed.buf + at, m->typed.len - at) >= c->width &&
               at < m->typed.len)
            at += cells_fit(c, m->typed.buf + at, m->typed.len - at, 1);
        used += cells_put(c, y, used, c->width - used, m->typed.buf + at, m->typed.len - at, plain);
        cells_fill(c, y, used, 1, bar);
        return;
    }
    if (m->message.len) {
        strbuf_add(&sb, m->message.buf, m->message.len);
    } else if (m->match) {
        strbuf_add(&sb, m->query.buf, m->query.len);
        strbuf_addstr(&sb, ": ");
        value_add_counted(&sb, m->matches, "name", "names");
        strbuf_addstr(&sb, ", in ");
        value_add_percent(&sb, m->matched, 1);
        strbuf_addstr(&sb, " of all; n next, N before");
    } else if (m->live) {
        strbuf_addf(&sb, "%sSpace %s  d %s  %s", ends, m->paused ? "go on" : "pause",
                    m->interval ? "in all" : "last look", keys);
    } else {
        strbuf_addf(&sb, "%s%s", ends, keys);
    }
    cells_put(c, y, 0, c->width, sb.buf, sb.len, m->message.len ? strong : plain);
    strbuf_release(&sb);
}

/* ---- the graph ---- */

static struct cell_look look_of(const struct viewmodel *m, uint32_t name, bool chosen)
{
    const struct frametree_name *n = &m->source->tree->names[name];
    bool is_match = m->match && m->match[name];
    struct cell_look look = {.filled = true};

    look.fill = is_match    ? found
                : name == 0 ? (struct rgb){190, 190, 190}
                            : palette_color(viewmodel_column(m)->palette, n->s, n->len, false);
    look.attributes = (uint8_t)((chosen ? CELL_REVERSE | CELL_BOLD : 0) |
                                (is_match ? CELL_BOLD | CELL_UNDERLINE : 0));
    return look;
}

static void draw_box(const struct viewmodel *m, struct cells *c, int y, const struct box *b,
                     uint32_t name, bool chosen)
{
    struct cell_look look = look_of(m, name, chosen), edge = look;
    const struct frametree_name *n = &m->source->tree->names[name];
    size_t len = palette_strip_mark(n->s, n->len);

    cells_fill(c, y, b->x, b->width, look);
    edge.attributes &= (uint8_t)~CELL_UNDERLINE;
    cells_put_text(c, y, b->x, 1, EDGE, edge);
    if (b->width > 2)
        cells_put(c, y, b->x + 1, b->width - 1, n->s, len, look);
}

static void draw_pane(struct viewmodel *m, struct cells *c, int y, const struct view_pane *pane,
                      bool active)
{
    struct view_window w = viewmodel_window(m, pane);

    if (!w.rows)
        return;
    boxes_make(&m->boxes, &pane->tree, pane->zoom, c->width, w.first, w.rows);
    for (size_t i = 0; i < m->boxes.n; i++) {
        const struct box *b = &m->boxes.at[i];

        draw_box(m, c, y + w.line + w.step * (int)(b->row - w.first), b,
                 pane->tree.nodes[b->node].name, active && b->node == pane->chosen);
    }
}

static void draw_graph(struct viewmodel *m, struct cells *c, int y)
{
    if (m->mode != VIEW_MODE_AROUND) {
        draw_pane(m, c, y, &m->all, true);
        return;
    }
    draw_pane(m, c, y, &m->callers, m->in_callers);
    draw_pane(m, c, y, &m->callees, !m->in_callers);
    draw_box(m, c, y + viewmodel_body(m) / 2, &(struct box){.width = c->width}, m->around,
             viewmodel_pane(m)->chosen == 0);
}

/* ---- the table ---- */

#define SHARE 8

/* Width of counts; 0: there is no room for them. */
static int width_of_counts(const struct viewmodel *m, const struct cells *c)
{
    double most = fabs(m->all.tree.total[0]), rate = round(fabs(m->rate));
    struct strbuf sb = STRBUF_INIT;
    int width;

    add_value(&sb, rate > most ? -rate : -most, viewmodel_column(m)->unit);
    width = (int)cells_columns(c, sb.buf, sb.len);
    strbuf_release(&sb);
    return width < 10 ? 10 : width;
}

static int put_count(const struct viewmodel *m, struct cells *c, int y, int x, int width, double v,
                     struct cell_look look)
{
    struct strbuf sb = STRBUF_INIT;

    add_value(&sb, v, viewmodel_column(m)->unit);
    put_right(c, y, x + width, width, &sb, look);
    strbuf_clear(&sb);
    add_share(&sb, v, m->all.tree.total[0]);
    put_right(c, y, x + width + SHARE, SHARE, &sb, look);
    strbuf_release(&sb);
    return x + width + SHARE + 1;
}

/* Puts a heading, with a mark if the table is sorted by it. */
static void put_heading(const struct viewmodel *m, struct cells *c, int y, int x, int width,
                        const char *text, enum view_sort sort)
{
    struct strbuf sb = STRBUF_INIT;
    bool here = m->sort == sort;

    strbuf_addf(&sb, "%s%s", text, !here ? "" : sort == VIEW_SORT_NAME ? "^" : "v");
    if (sort == VIEW_SORT_NAME)
        cells_put(c, y, x, width, sb.buf, sb.len, strong);
    else
        put_right(c, y, x + width, width, &sb, strong);
    strbuf_release(&sb);
}

/* The columns for which there is room, and how wide they are. */
struct table_columns {
    bool self, self_rate, total, total_rate;
    int width; /* of a count, without its share; a rate has no share */
};

/* Where there is room for one rate it is that of the column which sorts the table. */
static struct table_columns columns_of(const struct viewmodel *m, const struct cells *c)
{
    struct table_columns t = {.width = width_of_counts(m, c)};
    int counts = 2 * (t.width + SHARE + 1), rate = t.width + 1;
    bool by_total = m->sort == VIEW_SORT_TOTAL || m->sort == VIEW_SORT_TOTAL_RATE;
    bool one = m->source->rates && c->width >= counts + rate + 20;
    bool both = m->source->rates && c->width >= counts + 2 * rate + 24;

    t.self = c->width >= counts + 10;
    t.total = c->width >= counts / 2 + 10;
    t.self_rate = both || (one && !by_total);
    t.total_rate = both || (one && by_total);
    return t;
}

static int put_rate(const struct viewmodel *m, struct cells *c, int y, int x, int width, double v,
                    struct cell_look look)
{
    struct strbuf sb = STRBUF_INIT;

    if (viewmodel_column(m)->rate)
        add_value(&sb, round(v), viewmodel_column(m)->unit);
    put_right(c, y, x + width, width, &sb, look);
    strbuf_release(&sb);
    return x + width + 1;
}

static void put_headings(const struct viewmodel *m, struct cells *c, int y,
                         const struct table_columns *t)
{
    const struct {
        bool shown;
        int width;
        const char *text;
        enum view_sort sort;
    } all[] = {{t->self, t->width + SHARE, "self", VIEW_SORT_SELF},
               {t->self_rate, t->width, "self/s", VIEW_SORT_SELF_RATE},
               {t->total, t->width + SHARE, "total", VIEW_SORT_TOTAL},
               {t->total_rate, t->width, "total/s", VIEW_SORT_TOTAL_RATE}};
    int x = 0;

    for (size_t i = 0; i < ARRAY_LEN(all); i++) {
        if (!all[i].shown)
            continue;
        put_heading(m, c, y, x, all[i].width, all[i].text, all[i].sort);
        x += all[i].width + 1;
    }
    put_heading(m, c, y, x + (x > 0), c->width - x, "symbol", VIEW_SORT_NAME);
}

static void draw_table(const struct viewmodel *m, struct cells *c, int y)
{
    struct table_columns t = columns_of(m, c);

    if (m->height > 4)
        put_headings(m, c, y++, &t);
    for (int i = 0; i < viewmodel_body(m) && m->top_row + (size_t)i < m->nrows; i++) {
        size_t row = m->top_row + (size_t)i;
        const struct view_row *r = &m->rows[row];
        const struct frametree_name *name = &m->source->tree->names[r->name];
        struct cell_look line = row == m->row ? bar : plain, label = look_of(m, r->name, false);
        int at = 0;

        cells_fill(c, y + i, 0, c->width, line);
        if (t.self)
            at = put_count(m, c, y + i, at, t.width, r->self, line);
        if (t.self_rate)
            at = put_rate(m, c, y + i, at, t.width, r->self_rate, line);
        if (t.total)
            at = put_count(m, c, y + i, at, t.width, r->total, line);
        if (t.total_rate)
            at = put_rate(m, c, y + i, at, t.width, r->total_rate, line);
        cells_fill(c, y + i, at, 1, (struct cell_look){.filled = true, .fill = label.fill});
        if (m->match && m->match[r->name])
            line.attributes |= CELL_BOLD | CELL_UNDERLINE;
        cells_put(c, y + i, at + (at > 0), c->width - at, name->s, name->len, line);
    }
}

/* ---- overlays ---- */

/* Lines on an empty screen, without the first `skip`. */
struct page {
    struct cells *c;
    uint32_t skip, lines;
};

static void put_line(struct page *p, int x, const char *s, size_t len, struct cell_look look)
{
    if (p->lines >= p->skip && p->lines - p->skip < (uint32_t)p->c->height)
        cells_put(p->c, (int)(p->lines - p->skip), x, p->c->width - x, s, len, look);
    p->lines++;
}

/* Puts a text into as many lines as it takes. */
static void put_wrapped(struct page *p, int x, const char *s, size_t len, struct cell_look look)
{
    do {
        size_t n = cells_fit(p->c, s, len, p->c->width - x);

        put_line(p, x, s, n, look);
        s += n;
        len -= n;
    } while (len);
}

static void draw_help(const struct viewmodel *m, struct page *p)
{
    int x = p->c->width >= 60 ? 21 : 4;

    for (const struct view_help *h = view_help_lines; h->what; h++) {
        if (h->live && !m->live)
            continue;
        if (!h->key) {
            put_line(p, 0, h->what, strlen(h->what), strong);
            continue;
        }
        put_line(p, 2, h->key, strlen(h->key), plain);
        if (x == 21)
            p->lines--;
        put_wrapped(p, x, h->what, strlen(h->what), plain);
    }
}

static void draw_stack(const struct viewmodel *m, struct page *p)
{
    const struct view_pane *pane = viewmodel_pane((struct viewmodel *)m);
    const struct frametree_name *names = m->source->tree->names, *name;

    put_line(p, 0, "From here to the root:", 22, strong);
    if (m->mode == VIEW_MODE_TABLE) {
        name = &names[viewmodel_chosen_name(m)];
        put_wrapped(p, 2, name->s, name->len, plain);
        return;
    }
    for (uint32_t i = pane->chosen; i != FRAMETREE_NONE; i = pane->tree.nodes[i].parent) {
        if (p->lines > p->skip + (uint32_t)p->c->height)
            break;
        name = &names[pane->tree.nodes[i].name];
        put_wrapped(p, 2, name->s, name->len, plain);
    }
}

static void draw_overlay(struct viewmodel *m, struct cells *c)
{
    struct page p = {c, m->overlay_top, 0};

    if (m->overlay == VIEW_OVERLAY_HELP)
        draw_help(m, &p);
    else
        draw_stack(m, &p);
    if (m->overlay_top && m->overlay_top >= p.lines) { /* the overlay was scrolled behind its end */
        m->overlay_top = p.lines - 1;
        cells_clear(c);
        draw_overlay(m, c);
    }
}

void viewdraw(struct viewmodel *m, struct cells *c)
{
    int body = viewmodel_body(m), y = m->height > 1;

    if (c->width != m->width || c->height != m->height || !c->at)
        cells_resize(c, m->width, m->height);
    else
        cells_clear(c);
    if (m->overlay) {
        draw_overlay(m, c);
        return;
    }
    if (m->height > 1)
        draw_title(m, c);
    if (m->mode == VIEW_MODE_TABLE)
        draw_table(m, c, y);
    else
        draw_graph(m, c, y);
    y += body + (m->mode == VIEW_MODE_TABLE && m->height > 4);
    if (m->height >= 6)
        draw_details(m, c, y);
    if (m->height > 2)
        draw_last_line(m, c, m->height - 1);
}
