#define _GNU_SOURCE
#include "render/view/viewkeys.h"

#include <stdlib.h>

#define ESCAPE 27

const struct view_help view_help_lines[] = {
    {NULL, "Moving", false},
    {"arrows, h j k l", "to the next frame, or row of the table", false},
    {"PgUp PgDn Home End", "a screen further, to the first, to the last", false},
    {"Enter, +", "zoom into the frame; in the table: its callers and callees", false},
    {"Backspace, -", "zoom out by one frame, or go back", false},
    {"0", "zoom out to all", false},
    {NULL, "What is shown", false},
    {"Tab, g, t", "graph or table", false},
    {"c", "callers (above) and callees (below) of the function", false},
    {"v, V", "the next view, the one before", false},
    {"s, S", "sort the table by the next column, the one before", false},
    {"i", "root at the bottom, or at the top", false},
    {"f", "all names from the root to here, in full", false},
    {NULL, "Searching", false},
    {"/", "search: a text, or /regex/; with nothing: no search any more", false},
    {"n, N", "the next match, the one before", false},
    {NULL, "flame live", true},
    {"self/s, total/s", "what came per second since the last refresh", true},
    {"Space", "pause, go on", true},
    {"d", "what came since the last refresh, or in all", true},
    {NULL, "", false},
    {"?", "this help", false},
    {"Ctrl-L", "draw everything again", false},
    {"q, Ctrl-C", "end", false},
    {NULL, NULL, false},
};

/* ---- where panes are ---- */

struct view_window viewmodel_window(const struct viewmodel *m, const struct view_pane *pane)
{
    int body = viewmodel_body(m), middle = body / 2;

    if (m->mode != VIEW_MODE_AROUND) {
        if (m->upwards)
            return (struct view_window){body - 1, -1, pane->top, (uint32_t)body};
        return (struct view_window){0, 1, pane->top, (uint32_t)body};
    }
    /* The function itself, row 0 of both, has the line in the middle for its own. */
    if (pane == &m->callers)
        return (struct view_window){middle - 1, -1, pane->top + 1, (uint32_t)middle};
    return (struct view_window){middle + 1, 1, pane->top + 1, (uint32_t)(body - middle - 1)};
}

/* ---- settling ---- */

static void see(const struct viewmodel *m, struct view_pane *pane)
{
    uint32_t row = sumtree_depth(&pane->tree, pane->chosen);
    struct view_window w = viewmodel_window(m, pane);
    uint32_t shift = m->mode == VIEW_MODE_AROUND; /* row 0 is not the window's */

    if (row < shift || !w.rows) {
        pane->top = 0;
        return;
    }
    if (row < w.first)
        pane->top = row - shift;
    else if (row >= w.first + w.rows)
        pane->top = row - w.rows + 1 - shift;
}

static bool is_placed(struct viewmodel *m, struct view_pane *pane)
{
    uint32_t row = sumtree_depth(&pane->tree, pane->chosen);

    if (pane->chosen == 0)
        return true;
    boxes_make(&m->boxes, &pane->tree, pane->zoom, m->width, row, 1);
    return boxes_of(&m->boxes, pane->chosen) != NULL;
}

static void settle_pane(struct viewmodel *m, struct view_pane *pane)
{
    const struct sumtree *s = &pane->tree;

    while (pane->chosen && !(s->width[pane->chosen] > 0))
        pane->chosen = s->nodes[pane->chosen].parent;
    while (pane->zoom && !(s->width[pane->zoom] > 0))
        pane->zoom = s->nodes[pane->zoom].parent;
    if (!is_placed(m, pane)) {
        pane->zoom = s->nodes[pane->chosen].parent;
        if (!is_placed(m, pane))
            pane->zoom = pane->chosen;
    }
    see(m, pane);
}

static void settle_table(struct viewmodel *m)
{
    size_t body = (size_t)viewmodel_body(m);

    if (m->row >= m->nrows)
        m->row = m->nrows ? m->nrows - 1 : 0;
    if (m->row < m->top_row)
        m->top_row = m->row;
    if (m->row >= m->top_row + body)
        m->top_row = m->row - body + 1;
    if (m->top_row + body > m->nrows)
        m->top_row = m->nrows > body ? m->nrows - body : 0;
}

void viewmodel_settle(struct viewmodel *m)
{
    if (m->mode == VIEW_MODE_TABLE) {
        settle_table(m);
    } else if (m->mode == VIEW_MODE_AROUND) {
        settle_pane(m, &m->callers);
        settle_pane(m, &m->callees);
    } else {
        settle_pane(m, &m->all);
    }
}

/* ---- moving in the graph ---- */

static bool is_above(const struct sumtree *s, uint32_t node, uint32_t below)
{
    while (below != node && below != FRAMETREE_NONE)
        below = s->nodes[below].parent;
    return below == node;
}

/* The widest child; on the path to the zoomed frame, the next frame of that path. */
static void to_leaf(struct view_pane *pane)
{
    const struct sumtree *s = &pane->tree;
    uint32_t best = FRAMETREE_NONE;

    if (pane->zoom != pane->chosen && is_above(s, pane->chosen, pane->zoom)) {
        best = pane->zoom;
        while (s->nodes[best].parent != pane->chosen)
            best = s->nodes[best].parent;
        pane->chosen = best;
        return;
    }
    for (uint32_t c = s->nodes[pane->chosen].first; c != FRAMETREE_NONE; c = s->nodes[c].next)
        if (s->width[c] > 0 && (best == FRAMETREE_NONE || s->width[c] > s->width[best]))
            best = c;
    if (best != FRAMETREE_NONE)
        pane->chosen = best;
}

static void to_root(struct view_pane *pane)
{
    if (pane->chosen)
        pane->chosen = pane->tree.nodes[pane->chosen].parent;
}

/* Moves to the next box in the same row. */
static void sideways(struct viewmodel *m, int step)
{
    struct view_pane *pane = viewmodel_pane(m);
    const struct box *at, *to = NULL;

    boxes_make(&m->boxes, &pane->tree, pane->zoom, m->width,
               sumtree_depth(&pane->tree, pane->chosen), 1);
    at = boxes_of(&m->boxes, pane->chosen);
    for (size_t i = 0; at && i < m->boxes.n; i++) {
        const struct box *b = &m->boxes.at[i];

        if (step > 0 ? b->x > at->x && (!to || b->x < to->x)
                     : b->x < at->x && (!to || b->x > to->x))
            to = b;
    }
    if (to)
        pane->chosen = to->node;
}

static void up_or_down(struct viewmodel *m, bool up)
{
    struct view_pane *pane = viewmodel_pane(m);

    if (m->mode == VIEW_MODE_AROUND) {
        if (pane->chosen == 0) {
            m->in_callers = up;
            pane = viewmodel_pane(m);
            pane->chosen = 0;
        }
        if (up == m->in_callers)
            to_leaf(pane);
        else
            to_root(pane);
    } else if (up == m->upwards) {
        to_leaf(pane);
    } else {
        to_root(pane);
    }
}

static void far_in_graph(struct viewmodel *m, uint32_t key)
{
    struct view_pane *pane = viewmodel_pane(m);
    int lines = viewmodel_body(m) - 1;

    switch (key) {
    case VIEW_KEY_HOME:
        pane->chosen = 0;
        break;
    case VIEW_KEY_END:
        for (uint32_t before = FRAMETREE_NONE; before != pane->chosen;) {
            before = pane->chosen;
            to_leaf(pane);
        }
        break;
    default:
        for (int i = 0; i < (lines ? lines : 1); i++)
            up_or_down(m, key == VIEW_KEY_PAGE_UP);
    }
}

static void zoom_out(struct viewmodel *m)
{
    struct view_pane *pane = viewmodel_pane(m);

    if (m->mode == VIEW_MODE_TABLE) {
        m->mode = VIEW_MODE_GRAPH;
    } else if (pane->zoom) {
        pane->zoom = pane->tree.nodes[pane->zoom].parent;
    } else if (m->mode == VIEW_MODE_AROUND) {
        m->mode = m->back;
    }
}

static void move_in_graph(struct viewmodel *m, uint32_t key)
{
    switch (key) {
    case 'k':
    case VIEW_KEY_UP:
        up_or_down(m, true);
        break;
    case 'j':
    case VIEW_KEY_DOWN:
        up_or_down(m, false);
        break;
    case 'h':
    case VIEW_KEY_LEFT:
        sideways(m, -1);
        break;
    case 'l':
    case VIEW_KEY_RIGHT:
        sideways(m, 1);
        break;
    case '\r':
    case '\n':
    case '+':
        viewmodel_pane(m)->zoom = viewmodel_pane(m)->chosen;
        break;
    default:
        far_in_graph(m, key);
    }
}

/* ---- moving in the table ---- */

static void move_in_table(struct viewmodel *m, uint32_t key)
{
    size_t page = (size_t)viewmodel_body(m), last = m->nrows ? m->nrows - 1 : 0;

    switch (key) {
    case 'k':
    case VIEW_KEY_UP:
        m->row -= m->row > 0;
        break;
    case 'j':
    case VIEW_KEY_DOWN:
        m->row += m->row < last;
        break;
    case VIEW_KEY_PAGE_UP:
        m->row = m->row > page ? m->row - page : 0;
        break;
    case VIEW_KEY_PAGE_DOWN:
        m->row = m->row + page < last ? m->row + page : last;
        break;
    case VIEW_KEY_HOME:
        m->row = 0;
        break;
    case VIEW_KEY_END:
        m->row = last;
        break;
    case '\r':
    case '\n':
    case '+':
        if (m->row < m->nrows)
            viewmodel_go_around(m, m->rows[m->row].name);
        break;
    default:
        break;
    }
}

/* ---- searching ---- */

static void step_to_match(struct viewmodel *m, int step)
{
    if (!m->query.len)
        strbuf_addstr(&m->message, "nothing is searched for; '/' asks for it");
    else if (!viewmodel_next_match(m, step))
        strbuf_addstr(&m->message, "no match here");
}

static void add_character(struct strbuf *sb, uint32_t cp)
{
    if (cp < 0x80) {
        strbuf_addch(sb, (char)cp);
        return;
    }
    if (cp >= 0x10000)
        strbuf_addch(sb, (char)(0xf0 | cp >> 18));
    if (cp >= 0x800)
        strbuf_addch(sb, (char)(cp >= 0x10000 ? 0x80 | (cp >> 12 & 0x3f) : 0xe0 | cp >> 12));
    strbuf_addch(sb, (char)(cp >= 0x800 ? 0x80 | (cp >> 6 & 0x3f) : 0xc0 | cp >> 6));
    strbuf_addch(sb, (char)(0x80 | (cp & 0x3f)));
}

static void remove_character(struct strbuf *sb)
{
    size_t n = sb->len;

    while (n && (sb->buf[n - 1] & 0xc0) == 0x80)
        n--;
    strbuf_setlen(sb, n ? n - 1 : 0);
}

static void end_asking(struct viewmodel *m)
{
    m->asking = false;
    strbuf_clear(&m->query);
    strbuf_add(&m->query, m->typed.buf, m->typed.len);
    if (!viewmodel_search(m) || !m->query.len)
        return;
    if (!m->matches)
        strbuf_addstr(&m->message, "no name matches");
    else
        step_to_match(m, 1);
}

static void type(struct viewmodel *m, uint32_t key)
{
    if (key == '\r' || key == '\n')
        end_asking(m);
    else if (key == ESCAPE)
        m->asking = false;
    else if (key == 127 || key == 8)
        remove_character(&m->typed);
    else if (key == 21) /* Ctrl-U */
        strbuf_clear(&m->typed);
    else if (key >= ' ' && key < VIEW_KEY_UP && !(key >= 0x7f && key < 0xa0) &&
             !(key >= 0xd800 && key < 0xe000) && m->typed.len < 4096)
        add_character(&m->typed, key);
}

/* ---- view and overlays ---- */

static void next_column(struct viewmodel *m, uint32_t step)
{
    uint32_t n = m->source->ncolumns;

    if (n > 1)
        viewmodel_take_column(m, (m->column + step) % n);
    else
        strbuf_addstr(&m->message, "there is one view only");
}

static void go_to_chosen(struct viewmodel *m)
{
    uint32_t name = viewmodel_chosen_name(m);

    if (name)
        viewmodel_go_around(m, name);
    else
        strbuf_addstr(&m->message, "choose a function first");
}

/* The order of the table's columns. */
static enum view_sort next_sort(const struct viewmodel *m, size_t step)
{
    static const enum view_sort plain[] = {VIEW_SORT_SELF, VIEW_SORT_TOTAL, VIEW_SORT_NAME};
    static const enum view_sort rates[] = {VIEW_SORT_SELF, VIEW_SORT_SELF_RATE, VIEW_SORT_TOTAL,
                                           VIEW_SORT_TOTAL_RATE, VIEW_SORT_NAME};
    const enum view_sort *all = m->source->rates ? rates : plain;
    size_t n = m->source->rates ? ARRAY_LEN(rates) : ARRAY_LEN(plain), i = 0;

    while (i < n - 1 && all[i] != m->sort)
        i++;
    return all[(i + step + n) % n];
}

static void sort_next(struct viewmodel *m, bool back)
{
    uint32_t name = m->row < m->nrows ? m->rows[m->row].name : 0;

    if (m->mode == VIEW_MODE_TABLE) {
        bool at_top = m->row == 0;

        m->sort = next_sort(m, back ? (size_t)-1 : 1);
        viewmodel_sort(m);
        for (size_t i = 0; !at_top && i < m->nrows; i++)
            if (m->rows[i].name == name)
                m->row = i;
    }
    m->mode = VIEW_MODE_TABLE;
}

/* False: the key is none of these. */
static bool change_what(struct viewmodel *m, uint32_t key)
{
    switch (key) {
    case '\t':
        m->mode = m->mode == VIEW_MODE_TABLE ? VIEW_MODE_GRAPH : VIEW_MODE_TABLE;
        return true;
    case 'g':
        m->mode = VIEW_MODE_GRAPH;
        return true;
    case 't':
        m->mode = VIEW_MODE_TABLE;
        return true;
    case 'c':
        go_to_chosen(m);
        return true;
    case 'v':
        next_column(m, 1);
        return true;
    case 'V':
        next_column(m, m->source->ncolumns - 1);
        return true;
    case 's':
    case 'S':
        sort_next(m, key == 'S');
        return true;
    case 'i':
        m->upwards = !m->upwards;
        return true;
    case 'f':
        m->overlay = VIEW_OVERLAY_STACK;
        m->overlay_top = 0;
        return true;
    case '?':
    case VIEW_KEY_HELP:
        m->overlay = VIEW_OVERLAY_HELP;
        m->overlay_top = 0;
        return true;
    default:
        return false;
    }
}

static void reset(struct viewmodel *m)
{
    struct view_pane *pane = viewmodel_pane(m);

    pane->zoom = pane->chosen = 0;
}

static void leave_overlay(struct viewmodel *m, uint32_t key)
{
    if (key == VIEW_KEY_DOWN || key == 'j')
        m->overlay_top++;
    else if (key == VIEW_KEY_UP || key == 'k')
        m->overlay_top -= m->overlay_top > 0;
    else if (key == VIEW_KEY_PAGE_DOWN)
        m->overlay_top += (uint32_t)m->height;
    else if (key == VIEW_KEY_PAGE_UP)
        m->overlay_top -=
            m->overlay_top > (uint32_t)m->height ? (uint32_t)m->height : m->overlay_top;
    else
        m->overlay = VIEW_OVERLAY_NONE;
}

static void do_key(struct viewmodel *m, uint32_t key)
{
    switch (key) {
    case 'q':
        m->ended = true;
        break;
    case '/':
        m->asking = true;
        strbuf_clear(&m->typed);
        break;
    case 'n':
        step_to_match(m, 1);
        break;
    case 'N':
        step_to_match(m, -1);
        break;
    case '0':
    case ESCAPE:
        reset(m);
        break;
    case '-':
    case 127:
    case 8:
        zoom_out(m);
        break;
    case ' ':
        m->paused ^= m->live;
        break;
    case 'd':
        m->interval ^= m->live;
        break;
    default:
        if (m->mode == VIEW_MODE_TABLE)
            move_in_table(m, key);
        else
            move_in_graph(m, key);
    }
}

void viewmodel_key(struct viewmodel *m, uint32_t key)
{
    strbuf_clear(&m->message);
    if (key == VIEW_KEY_NONE)
        return;
    if (m->asking)
        type(m, key);
    else if (m->overlay && key != 'q')
        leave_overlay(m, key);
    else if (!change_what(m, key))
        do_key(m, key);
    viewmodel_settle(m);
}

static const struct box *box_at(struct viewmodel *m, const struct view_pane *pane, int line, int x)
{
    struct view_window w = viewmodel_window(m, pane);
    int behind = (line - w.line) * w.step;

    if (behind < 0 || (uint32_t)behind >= w.rows)
        return NULL;
    boxes_make(&m->boxes, &pane->tree, pane->zoom, m->width, w.first + (uint32_t)behind, 1);
    for (size_t i = 0; i < m->boxes.n; i++)
        if (m->boxes.at[i].x <= x && x < m->boxes.at[i].x + m->boxes.at[i].width)
            return &m->boxes.at[i];
    return NULL;
}

static void click_graph(struct viewmodel *m, int line, int x)
{
    struct view_pane *panes[] = {&m->all, &m->callers, &m->callees};
    bool around = m->mode == VIEW_MODE_AROUND;

    for (size_t i = around ? 1 : 0; i < (around ? 3u : 1u); i++) {
        const struct box *b = box_at(m, panes[i], line, x);

        if (!b)
            continue;
        if (around)
            m->in_callers = i == 1;
        if (panes[i]->chosen == b->node)
            panes[i]->zoom = b->node;
        panes[i]->chosen = b->node;
        return;
    }
}

void viewmodel_click(struct viewmodel *m, int y, int x)
{
    int line = y - (m->height > 1) - (m->mode == VIEW_MODE_TABLE && m->height > 4);
    bool inside = line >= 0 && line < viewmodel_body(m);

    strbuf_clear(&m->message);
    if (m->overlay)
        m->overlay = VIEW_OVERLAY_NONE;
    else if (inside && m->mode != VIEW_MODE_TABLE)
        click_graph(m, line, x);
    else if (inside && m->top_row + (size_t)line < m->nrows) {
        if (m->row == m->top_row + (size_t)line)
            viewmodel_go_around(m, m->rows[m->row].name);
        else
            m->row = m->top_row + (size_t)line;
    }
    viewmodel_settle(m);
}
