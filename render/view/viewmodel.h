/*
 * viewmodel.h: what the viewer shows and what a key does, without a terminal.
 *
 * The model has a source (a tree with columns of counts), a state, and a size; keys and clicks
 * change the state (viewkeys.h), viewdraw.h draws it into cells. So all of it runs in tests.
 *
 * A source may be put in another's place at any time (`flame live`): what was zoomed into and
 * chosen is found again by its names.
 *
 * Not thread-safe for one model.
 */
#ifndef FLAME_RENDER_VIEW_VIEWMODEL_H
#define FLAME_RENDER_VIEW_VIEWMODEL_H

#include "render/view/boxes.h"
#include "render/view/cells.h"
#include "render/view/sumtree.h"

/* One thing that was counted. Strings and arrays are borrowed. */
struct view_column {
    const char *name;  /* "live"; may be "" */
    const char *title; /* "Memory live at the end" */
    const char *unit;
    int palette;
    const double *self;   /* by node */
    const bool *wrappers; /* by name: its own counts are its callers' (wrappers.h); NULL: none */
};

struct view_source {
    const struct frametree *tree; /* finished */
    const struct view_column *columns;
    uint32_t ncolumns; /* at least one */
    const char *label; /* where it comes from; any bytes */
    const char *note;  /* what is to be known of the counts, "" mostly */
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
    VIEW_SORTS,
};

/* What lies over the rest until the next key. */
enum view_overlay {
    VIEW_OVERLAY_NONE,
    VIEW_OVERLAY_HELP,
    VIEW_OVERLAY_STACK, /* all names from the root to the chosen frame, in full */
};

struct view_row {
    uint32_t name;
    double self, total;
};

/* A tree on the screen, and where one is in it. */
struct view_pane {
    struct sumtree tree;
    uint32_t zoom, chosen;
    uint32_t top; /* the first row that is shown */
};

struct viewmodel {
    const struct view_source *source;
    int width, height;
    bool ascii;            /* nothing but ASCII is shown */
    bool upwards;          /* the root is at the bottom */
    bool live;             /* there are the keys of `flame live`, too */
    bool paused, interval; /* of `flame live`; who feeds it looks at them */
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
    enum view_mode back; /* where one came from */

    struct view_row *rows; /* one for each name that has a count */
    size_t nrows;
    enum view_sort sort;
    size_t row, top_row; /* chosen, and the first that is shown */

    struct strbuf query; /* as it was typed; empty: nothing is searched for */
    bool asking;         /* it is being typed */
    struct strbuf typed;
    uint8_t *match;        /* by name; NULL: nothing is searched for */
    size_t matches;        /* names */
    double matched;        /* the part of all that stacks with a match are, 0 to 1 */
    struct strbuf message; /* for the last line, until the next key */

    struct boxes boxes; /* room for viewdraw */
};

/* The source must outlive the model, or the next viewmodel_feed. */
void viewmodel_init(struct viewmodel *m, const struct view_source *source, uint32_t column);
void viewmodel_release(struct viewmodel *m);
void viewmodel_resize(struct viewmodel *m, int width, int height);

/* Puts another source in the place of the present one, which must still be there. */
void viewmodel_feed(struct viewmodel *m, const struct view_source *source);

/* Takes another column of the source. */
void viewmodel_take_column(struct viewmodel *m, uint32_t column);

/* The pane one moves in, with a graph on the screen. */
struct view_pane *viewmodel_pane(struct viewmodel *m);
/* The name that is chosen, in whatever mode; the root's is 0. */
uint32_t viewmodel_chosen_name(const struct viewmodel *m);

/* Shows the callers and callees of a function. */
void viewmodel_go_around(struct viewmodel *m, uint32_t name);

void viewmodel_sort(struct viewmodel *m);

/*
 * Searches for m->query: a text without regard for case, or /regex/. False, with why in m->message:
 * it is no expression; then nothing is searched for.
 */
bool viewmodel_search(struct viewmodel *m);
/* How much of the present column they are: m->matched. */
void viewmodel_count_matches(struct viewmodel *m);
/* Goes to the next match, or with -1 to the one before. False: there is none. */
bool viewmodel_next_match(struct viewmodel *m, int step);

/* How many lines the graph or the table has on the screen. */
int viewmodel_body(const struct viewmodel *m);

static inline const struct view_column *viewmodel_column(const struct viewmodel *m)
{
    return &m->source->columns[m->column];
}

#endif
