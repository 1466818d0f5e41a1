/*
 * backend.h: back ends, which draw a finished tree. A back end is one file that defines a struct
 * render_backend, and one row of RENDER_BACKENDS below.
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

/* A column of a tree's counts. Strings as below. */
struct render_column {
    const char *name; /* "live"; "" when the input does not say */
    const char *title;
    const char *label; /* fold/viewtable.h; the name where the view is not known */
    const char *unit;
    bool timed;  /* one of several moments of that view and unit */
    double time; /* seconds, finite; of a timed one */
    bool level;  /* fold/viewtable.h */
};

/* Content and look of the picture. Strings are borrowed, may hold any bytes. */
struct render_options {
    const char *title;
    const char *subtitle;  /* "": none */
    const char *command;   /* the profiled program, as far as that is known; "": it is not */
    const char *countname; /* unit of the counts, "samples", "bytes"... */
    const char *nametype;  /* the kind of frames: "Function:" */
    double width;          /* pixels */
    bool fluid;            /* may follow the window's width */
    double frame_height;   /* pixels */
    double minwidth;       /* narrower frames are left out: pixels, or percent of the total */
    bool minwidth_percent;
    const char *fonttype;
    double fontsize;
    int palette;                   /* see palette.h */
    bool hash;                     /* similar names get similar colours */
    bool random;                   /* each frame has a shade of its own */
    bool negate;                   /* differences: blue for growth */
    enum difference_widths widths; /* of a comparison; the tree has them already */
    enum difference_colors change;
    bool carry;                       /* a frame's change includes that of all frames below it */
    struct colormap *colormap;        /* colours of earlier pictures, added to; or NULL */
    const struct nameattrs *nameattr; /* or NULL */
    const char *notes;                /* put into the file, not shown; "": none */
    bool own_background;              /* a background was asked for; else neutral, and dark where
                                         the reader prefers that */
    struct rgb background[2];         /* from top to bottom */
    double scale;                     /* dots a pixel, where the output has dots */
    double factor;                    /* factor for shown counts */
    double fontwidth;                 /* of a character, in font sizes; 0: the font's own */
    bool inverted;                    /* root at the top */
    uint64_t sample; /* counts are estimates: mean bytes between samples; 0: exact */
    bool ordered;    /* siblings are in the order of time, see frametree_keep_order */
    bool reverse;    /* the tree is merged from the leaf, or, with explores, is to be shown so */
    /* One for each of the tree's columns, the first one's before t->columns[0]'s. */
    const struct render_column *columns;
    size_t ncolumns;
    const struct timeline *timeline; /* live memory over time; NULL or without moments: not known */
    const struct lanes *lanes;       /* threads' waits over time; NULL or empty: not known */
    const char *view;                /* the column to begin with, if there are several; NULL: the
                                        first, or in a page that of a contended lock */
    const struct wrappers_options *wrappers;
    bool no_findings; /* no sentences about the tree (render/findings/findings.h) */
    bool no_legend;   /* no line with the total and the meaning of colours */
};

struct render_backend {
    const char *name;    /* for -f, and an ending of output files */
    const char *endings; /* other endings of output files, blank-separated; NULL: none */
    const char *begins;  /* beginning of the names of its output files; NULL: none */
    const char *what;    /* for --help */
    bool all_views;      /* wants all views, as columns; the others get one */
    bool explores;       /* takes stacks as they are, whatever `reverse` says */
    bool modules;        /* needs the modules of frames (frametree_name.module) */
    bool lines;          /* needs file and line in the names of traces */
    bool is_browsed;     /* writes a file that browsers show */
    bool from_leaf;      /* takes stacks merged from the leaf, or with `reverse` from the root */
    bool waits;          /* writes threads' waits in time order, if the input has them */
    bool needs_waits;    /* writes nothing else: an input without them is refused */
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
    row(export_perfetto)     \
    row(export_chrome)       \
    row(export_callgrind)    \
    row(export_massif)       \
    row(export_text)         \
    row(export_findings)     \
    row(export_csv)
/* clang-format on */

#define RENDER_BACKEND_DECLARED(backend) extern const struct render_backend backend;
RENDER_BACKENDS(RENDER_BACKEND_DECLARED)

/* The rows of RENDER_BACKENDS as an array that ends with NULL. */
extern const struct render_backend *const render_backends[];

/* The back end of that name, or NULL. */
const struct render_backend *backend_find(const char *name);
/* The back end that a file's name selects by its ending or its beginning, or NULL. */
const struct render_backend *backend_for_file(const char *path);
/* Appends all endings of files: ".svg, .html...". */
void backend_add_endings(struct strbuf *sb);

#endif
