/*
 * backend.h: what draws a finished tree. A back end is one file that defines a
 * struct render_backend, and one row of RENDER_BACKENDS below.
 */
#ifndef FLAME_RENDER_BACKEND_H
#define FLAME_RENDER_BACKEND_H

#include <stdio.h>

#include "render/colormap.h"
#include "render/difference.h"
#include "render/frametree.h"
#include "render/nameattr.h"
#include "render/palette.h"
#include "render/lanes.h"
#include "render/timeline.h"
#include "render/wrappers.h"

/* What a column of a tree's counts is. Strings as below. */
struct render_column {
    const char *name; /* "live"; "" when the input does not say */
    const char *title;
    const char *unit;
    bool timed;  /* one of several moments of that view and unit */
    double time; /* seconds, finite; of a timed one */
    bool level;  /* views.h */
};

/* What the picture says and looks like. Strings are borrowed, may hold any bytes. */
struct render_options {
    const char *title;
    const char *subtitle;  /* "": none */
    const char *command;   /* what was profiled, as far as that is known; "": it is not */
    const char *countname; /* unit of the counts, "samples", "bytes"... */
    const char *nametype;  /* what a frame is: "Function:" */
    double width;          /* pixels */
    bool fluid;            /* may follow the window's width */
    double frame_height;   /* pixels */
    double minwidth;       /* frames narrower are left out: pixels, or percent of the total */
    bool minwidth_percent;
    const char *fonttype;
    double fontsize;
    int palette;                   /* see palette.h */
    bool hash;                     /* similar names get similar colours */
    bool random;                   /* each frame has a shade of its own */
    bool negate;                   /* differences: blue for growth */
    enum difference_widths widths; /* of a comparison; the tree has them already */
    enum difference_colors change;
    bool carry;                /* a frame's change is that of all below it too, not its own alone */
    struct colormap *colormap; /* colours of earlier pictures, added to; or NULL */
    const struct nameattrs *nameattr; /* or NULL */
    const char *notes;                /* put into the file, not shown; "": none */
    bool own_background;              /* else neutral, and dark where the reader wants that */
    struct rgb background[2];         /* from top to bottom */
    double scale;                     /* dots a pixel, where the output has dots */
    double factor;                    /* what shown counts are multiplied by */
    double fontwidth;                 /* of a character, in font sizes; 0: the font's own */
    bool inverted;                    /* root at the top */
    uint64_t sample; /* counts are estimates: mean bytes between samples; 0: exact */
    bool ordered;    /* siblings stand in time, see frametree_keep_order */
    bool reverse;    /* the tree is merged from the leaf, or, with explores, is to be shown so */
    /* One for each of the tree's columns, the first one's before t->columns[0]'s. */
    const struct render_column *columns;
    size_t ncolumns;
    const struct timeline *timeline; /* what was live over time; NULL or of no moments: not known */
    const struct lanes *lanes;       /* when threads waited; the same */
    const char *view;                /* of several columns the one to begin with; NULL: the first */
    const struct wrappers_options *wrappers;
    bool no_findings; /* no sentences about it (render/findings/findings.h) */
    bool no_legend;   /* no line of the total and of what the colours mean */
};

struct render_backend {
    const char *name;    /* for -f, and an ending of output files */
    const char *endings; /* others, blank-separated; NULL: none */
    const char *begins;  /* or what a file's name begins with; NULL: nothing does */
    const char *what;    /* for --help */
    bool all_views;      /* wants all views, as columns; the others get one */
    bool explores;       /* wants stacks as they are, whatever `reverse` says */
    bool modules;        /* wants to know the modules of frames (frametree_name.module) */
    bool lines;          /* wants file and line in the names of traces */
    bool is_browsed;     /* what it writes is for browsers to show */
    bool from_leaf;      /* wants them merged from the leaf, or with `reverse` from the root */
    /* Writes the whole picture. 0, or -errno when the stream failed; the owner flushes it. */
    int (*write)(FILE *out, const struct frametree *t, const struct render_options *o);
};

/* All back ends in the order of the help, the first being the default. */
/* clang-format off */
#define RENDER_BACKENDS(row) \
    row(render_svg)          \
    row(render_html)         \
    row(render_png)          \
    row(export_folded)       \
    row(export_pprof)        \
    row(export_otlp)         \
    row(export_speedscope)   \
    row(export_d3)           \
    row(export_grafana)      \
    row(export_firefox)      \
    row(export_chrome)       \
    row(export_callgrind)    \
    row(export_massif)       \
    row(export_text)         \
    row(export_findings)     \
    row(export_csv)
/* clang-format on */

#define RENDER_BACKEND_DECLARED(backend) extern const struct render_backend backend;
RENDER_BACKENDS(RENDER_BACKEND_DECLARED)

/* The same as an array that ends with NULL. */
extern const struct render_backend *const render_backends[];

/* The back end of that name, or NULL. */
const struct render_backend *backend_find(const char *name);
/* The one that a file's name asks for by its ending or its beginning, or NULL. */
const struct render_backend *backend_for_file(const char *path);
/* Appends all endings of files: ".svg, .html...". */
void backend_add_endings(struct strbuf *sb);

#endif
