/*
 * viewmodel.h: the viewer's state and its reactions to keys, without a terminal.
 *
 * The model has a source (a tree with columns of counts), a state, and a size; keys and clicks
 * change the state (viewkeys.h), viewdraw.h draws it into cells. So all of it runs in tests.
 *
 * A source may be replaced at any time (`flame live`): the zoomed and the chosen frame are found
 * again by their names.
 *
 * Not thread-safe for one model.
 */
#ifndef FLAME_RENDER_VIEW_VIEWMODEL_H
#define FLAME_RENDER_VIEW_VIEWMODEL_H

#include "render/view/boxes.h"
#include "render/view/cells.h"
#include "render/view/sumtree.h"

/* A column of counts. Strings and arrays are borrowed. */
struct view_column {
    const char *name;  /* "live"; may be "" */
    const char *title; /* "Memory live at the end" */
    const char *unit;
    int palette;
    const double *self;   /* by node */
    const double *rate;   /* own counts per second, by node; NULL: not known */
    const bool *wrappers; /* by name: its own counts are its callers' (wrappers.h); NULL: none */
};

struct view_source {
    const struct frametree *tree; /* finished */
    const struct view_column *columns;
    uint32_t ncolumns; /* at least one */
    const char *label; /* the input's name; any bytes */
    const char *note;  /* a remark about the counts, "" mostly */
    bool rates;        /* the table has columns of rates, also while these are not known */
};

enum view_mode {
    VIEW_MODE_GRAPH,
    VIEW_MODE_TABLE,
    VIEW_MODE_AROUND, /* one function: its callers above, its callees below */
};

enum view_sort {
    VIEW_SORT_SELF,
    VIEW_SORT_TOTAL,
    VIEW_SORT_NAME,
    VIEW_SORT_SELF_RATE, /* these two are of sources with rates */
    VIEW_SORT_TOTAL_RATE,
};

/* The overlay that covers the screen until the next key. */
enum view_overlay {
    VIEW_OVERLAY_NONE,
    VIEW_OVERLAY_HELP,
    VIEW_OVERLAY_STACK, /* all names from the root to the chosen frame, in full */
};

struct view_row {
    uint32_t name;
    double self, total;
    double self_rate, total_rate; /* per second; 0 while they are not known */
};

/* A tree on the screen, and the position in it. */
struct view_pane {
    struct sumtree tree;
    uint32_t zoom, chosen;
    uint32_t top; /* the first row that is shown */
};

struct viewmodel {
    const struct view_source *source;
    int width, height;
    bool ascii;            /* show nothing but ASCII */
    bool upwards;          /* the root is at the bottom */
    bool live;             /* the keys of `flame live` are active */
    bool paused, interval; /* set by keys of `flame live`, for the code that feeds it */
    enum view_mode mode;
    enum view_overlay overlay;
    uint32_t overlay_top;
    uint32_t column;
    bool ended;

    struct view_pane all;
    /* Around a function: its callers and callees, and whether the chosen frame is a caller. */
    uint32_t around; /* a name */
    struct view_pane callers, callees;
    bool in_callers, has_around;
    enum view_mode back; /* the mode to return to */

    struct view_row *rows; /* one for each name that has a count */
    size_t nrows;
    double rate; /* the total's; 0 while it is not known */
    enum view_sort sort;
    size_t row, top_row; /* the chosen row, and the first that is shown */

    struct strbuf query; /* as it was typed; empty: no search */
    bool asking;         /* a query is being typed */
    struct strbuf typed;
    uint8_t *match;        /* by name; NULL: no search */
    size_t matches;        /* names */
    double matched;        /* share of the total in stacks with a match, 0 to 1 */
    struct strbuf message; /* for the last line, until the next key */

    struct boxes boxes; /* room for viewdraw */
};

/* The source must outlive the model, or live until the next viewmodel_feed. */
void viewmodel_init(struct viewmodel *m, const struct view_source *source, uint32_t column);
void viewmodel_release(struct viewmodel *m);
void viewmodel_resize(struct viewmodel *m, int width, int height);

/* Replaces the present source, which must still exist. */
void viewmodel_feed(struct viewmodel *m, const struct view_source *source);

/* Changes to another column of the source. */
void viewmodel_take_column(struct viewmodel *m, uint32_t column);

/* The pane in which keys move, with a graph on the screen. */
struct view_pane *viewmodel_pane(struct viewmodel *m);
/* The chosen name, in any mode; the root's is 0. */
uint32_t viewmodel_chosen_name(const struct viewmodel *m);

/* Shows the callers and callees of a function. */
void viewmodel_go_around(struct viewmodel *m, uint32_t name);

void viewmodel_sort(struct viewmodel *m);

/*
 * Searches for m->query: a text without regard for case, or /regex/. False, with the reason in
 * m->message: it is not a valid expression; then there is no search.
 */
bool viewmodel_search(struct viewmodel *m);
/* Computes m->matched, the matches' share of the present column. */
void viewmodel_count_matches(struct viewmodel *m);
/* Goes to the next match, or with -1 to the one before. False: there is none. */
bool viewmodel_next_match(struct viewmodel *m, int step);

/* The number of lines that the graph or the table has on the screen. */
int viewmodel_body(const struct viewmodel *m);

static inline const struct view_column *viewmodel_column(const struct viewmodel *m)
{
    return &m->source->columns[m->column];
}

#endif
