#define _GNU_SOURCE
#include "render/view/viewmodel.h"

#include <stdlib.h>

#include "common/alloc.h"
#include "render/wrappers.h"

/* ---- the table ---- */

struct row_order {
    const struct frametree_name *names;
    enum view_sort sort;
};

/* Negative if the larger one, which comes first, is `a`. */
static int by_size(double a, double b)
{
    return a > b ? -1 : a < b;
}

static int by_sort(const void *pa, const void *pb, void *arg)
{
    const struct row_order *o = arg;
    const struct view_row *a = pa, *b = pb;
    uint32_t x = o->names[a->name].rank, y = o->names[b->name].rank;
    int order = 0;

    if (o->sort == VIEW_SORT_SELF)
        order = by_size(a->self, b->self);
    else if (o->sort == VIEW_SORT_SELF_RATE)
        order = by_size(a->self_rate, b->self_rate);
    if (!order && (o->sort == VIEW_SORT_SELF_RATE || o->sort == VIEW_SORT_TOTAL_RATE))
        order = by_size(a->total_rate, b->total_rate);
    if (!order && o->sort != VIEW_SORT_NAME)
        order = by_size(a->total, b->total);
    return order ? order : x < y ? -1 : x > y;
}

void viewmodel_sort(struct viewmodel *m)
{
    struct row_order order = {m->source->tree->names, m->sort};

    qsort_r(m->rows, m->nrows, sizeof *m->rows, by_sort, &order);
}

/* The rates of all nodes with what is below them; NULL: not known. */
static double *rate_totals(const struct viewmodel *m)
{
    const struct frametree *t = m->source->tree;
    const double *rate = viewmodel_column(m)->rate;
    double *total;

    if (!rate)
        return NULL;
    total = xcalloc(t->n, sizeof *total);
    for (uint32_t i = t->n; i-- > 0;) {
        total[i] += rate[i];
        if (i)
            total[t->nodes[i].parent] += total[i];
    }
    return total;
}

/* Each stack counts once for each function on it: only the outermost call's total is added. */
static void list_rows(struct viewmodel *m)
{
    const struct frametree *t = m->source->tree;
    const struct sumtree *s = &m->all.tree;
    struct view_row *rows = xcalloc(t->nnames, sizeof *rows);
    uint32_t *on_path = xcalloc(t->nnames, sizeof *on_path), depth = 0;
    double *rates = rate_totals(m);
    uint32_t *path = NULL;
    size_t n = 0, room = 0;

    m->rate = rates ? rates[0] : 0;
    for (uint32_t i = 0; i != FRAMETREE_NONE; i = frametree_next(t, i, true, &depth)) {
        uint32_t name = t->nodes[i].name;
        struct view_row *owner =
            &rows[t->nodes[wrappers_owner(t, viewmodel_column(m)->wrappers, i)].name];

        while (n > depth)
            on_path[path[--n]]--;
        GROW(path, n, room);
        path[n++] = name;
        owner->self += s->self[i];
        owner->self_rate += rates ? viewmodel_column(m)->rate[i] : 0;
        if (on_path[name]++ == 0) {
            rows[name].total += s->total[i];
            rows[name].total_rate += rates ? rates[i] : 0;
        }
    }
    m->nrows = 0;
    for (uint32_t i = 1; i < t->nnames; i++) /* the root's name is no function */
        if (rows[i].self != 0 || rows[i].total != 0) {
            rows[i].name = i;
            rows[m->nrows++] = rows[i];
        }
    free(rates);
    free(path);
    free(on_path);
    free(m->rows);
    m->rows = rows;
    viewmodel_sort(m);
}

/* ---- columns and sources ---- */

static void release_around(struct viewmodel *m)
{
    if (!m->has_around)
        return;
    sumtree_release(&m->callers.tree);
    sumtree_release(&m->callees.tree);
    m->callers = m->callees = (struct view_pane){.zoom = 0};
    m->has_around = false;
}

static void make_around(struct viewmodel *m)
{
    const struct frametree_name *names = m->source->tree->names;

    release_around(m);
    m->has_around = true;
    sumtree_callers(&m->callers.tree, &m->all.tree, m->around, names);
    sumtree_callees(&m->callees.tree, &m->all.tree, m->around, names);
}

static void count_all(struct viewmodel *m)
{
    sumtree_release(&m->all.tree);
    sumtree_make(&m->all.tree, m->source->tree, viewmodel_column(m)->self);
    list_rows(m);
    viewmodel_count_matches(m);
}

/* A path: the names of frames from below the root to a node, to find it again in another tree. */
struct way {
    char **names;
    size_t *lens;
    size_t n;
};

static struct way way_to(const struct viewmodel *m, const struct view_pane *pane, uint32_t node)
{
    struct way w = {.n = sumtree_depth(&pane->tree, node)};

    w.names = xcalloc(w.n + 1, sizeof *w.names);
    w.lens = xcalloc(w.n + 1, sizeof *w.lens);
    for (size_t i = w.n; i-- > 0; node = pane->tree.nodes[node].parent) {
        const struct frametree_name *name = &m->source->tree->names[pane->tree.nodes[node].name];

        w.names[i] = xmemdup0(name->s, name->len);
        w.lens[i] = name->len;
    }
    return w;
}

static bool is_name(const struct viewmodel *m, uint32_t name, const char *s, size_t len)
{
    const struct frametree_name *n = &m->source->tree->names[name];

    return n->len == len && memcmp(n->s, s, len) == 0;
}

/* Follows the path as far as the tree has it. Frees the path. */
static uint32_t find_way(const struct viewmodel *m, const struct view_pane *pane, struct way *w)
{
    uint32_t at = 0;

    for (size_t i = 0; i < w->n; i++) {
        uint32_t c = pane->tree.nodes[at].first;

        while (c != FRAMETREE_NONE &&
               !is_name(m, pane->tree.nodes[c].name, w->names[i], w->lens[i]))
            c = pane->tree.nodes[c].next;
        if (c == FRAMETREE_NONE)
            break;
        at = c;
    }
    for (size_t i = 0; i < w->n; i++)
        free(w->names[i]);
    free(w->names);
    free(w->lens);
    return at;
}

struct place {
    struct way zoom, chosen;
};

static struct place keep_place(const struct viewmodel *m, const struct view_pane *pane)
{
    if (!pane->tree.n)
        return (struct place){{.n = 0}, {.n = 0}};
    return (struct place){way_to(m, pane, pane->zoom), way_to(m, pane, pane->chosen)};
}

static void find_place(const struct viewmodel *m, struct view_pane *pane, struct place *at)
{
    pane->zoom = find_way(m, pane, &at->zoom);
    pane->chosen = find_way(m, pane, &at->chosen);
}

static uint32_t find_name(const struct viewmodel *m, const char *s, size_t len)
{
    for (uint32_t i = 1; i < m->source->tree->nnames; i++)
        if (is_name(m, i, s, len))
            return i;
    return 0;
}

/* Chooses the row of a function again; the first row if the function has none any more. */
static void find_row(struct viewmodel *m, uint32_t name)
{
    m->row = 0;
    for (size_t i = 0; name && i < m->nrows; i++)
        if (m->rows[i].name == name)
            m->row = i;
}

static uint32_t name_of_row(const struct viewmodel *m)
{
    return m->row < m->nrows ? m->rows[m->row].name : 0;
}

static struct frametree_name copy_name(const struct viewmodel *m, uint32_t name)
{
    const struct frametree_name *n = &m->source->tree->names[name];

    return (struct frametree_name){.s = xmemdup0(n->s, n->len), .len = n->len};
}

static uint32_t find_column(const struct view_source *source, const char *name)
{
    for (uint32_t i = 0; i < source->ncolumns; i++)
        if (strcmp(source->columns[i].name, name) == 0)
            return i;
    return 0;
}

void viewmodel_feed(struct viewmodel *m, const struct view_source *source)
{
    struct place all = keep_place(m, &m->all), callers = {{.n = 0}, {.n = 0}}, callees = callers;
    struct frametree_name row = copy_name(m, name_of_row(m)), around = copy_name(m, m->around);
    bool had = m->has_around, at_top = m->row == 0;

    if (had) {
        callers = keep_place(m, &m->callers);
        callees = keep_place(m, &m->callees);
    }
    release_around(m);
    free(m->match);
    m->match = NULL;
    m->column = find_column(source, viewmodel_column(m)->name);
    m->source = source;
    count_all(m);
    find_place(m, &m->all, &all);
    /* If the first row was chosen, it stays so: a user there wants to see the largest, whichever
       that is. */
    find_row(m, at_top ? 0 : find_name(m, row.s, row.len));
    m->around = find_name(m, around.s, around.len);
    if (had) {
        if (m->mode == VIEW_MODE_AROUND && !m->around)
            m->mode = m->back;
        make_around(m);
        find_place(m, &m->callers, &callers);
        find_place(m, &m->callees, &callees);
    }
    free((char *)row.s);
    free((char *)around.s);
    viewmodel_search(m);
}

void viewmodel_take_column(struct viewmodel *m, uint32_t column)
{
    uint32_t row = name_of_row(m);

    m->column = column;
    count_all(m);
    find_row(m, m->row ? row : 0);
    if (m->has_around) {
        struct place callers = keep_place(m, &m->callers), callees = keep_place(m, &m->callees);

        make_around(m);
        find_place(m, &m->callers, &callers);
        find_place(m, &m->callees, &callees);
    }
}

void viewmodel_init(struct viewmodel *m, const struct view_source *source, uint32_t column)
{
    *m = (struct viewmodel){.source = source,
                            .column = column,
                            .width = 80,
                            .height = 24,
                            .query = STRBUF_INIT,
                            .typed = STRBUF_INIT,
                            .message = STRBUF_INIT};
    count_all(m);
}

void viewmodel_release(struct viewmodel *m)
{
    release_around(m);
    sumtree_release(&m->all.tree);
    boxes_release(&m->boxes);
    free(m->rows);
    free(m->match);
    strbuf_release(&m->query);
    strbuf_release(&m->typed);
    strbuf_release(&m->message);
}

void viewmodel_resize(struct viewmodel *m, int width, int height)
{
    m->width = width < 1 ? 1 : width;
    m->height = height < 1 ? 1 : height;
}

/* ---- position ---- */

struct view_pane *viewmodel_pane(struct viewmodel *m)
{
    if (m->mode != VIEW_MODE_AROUND)
        return &m->all;
    return m->in_callers ? &m->callers : &m->callees;
}

uint32_t viewmodel_chosen_name(const struct viewmodel *m)
{
    const struct view_pane *pane = viewmodel_pane((struct viewmodel *)m);

    return m->mode == VIEW_MODE_TABLE ? name_of_row(m) : pane->tree.nodes[pane->chosen].name;
}

void viewmodel_go_around(struct viewmodel *m, uint32_t name)
{
    if (m->mode != VIEW_MODE_AROUND)
        m->back = m->mode;
    m->mode = VIEW_MODE_AROUND;
    m->around = name;
    m->in_callers = false;
    make_around(m);
}

int viewmodel_body(const struct viewmodel *m)
{
    int taken = m->height < 6 ? 2 : 4;
    int rows = m->height - taken - (m->mode == VIEW_MODE_TABLE && m->height > 4);

    return rows < 1 ? 1 : rows;
}
