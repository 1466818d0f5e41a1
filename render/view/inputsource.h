/*
 * inputsource.h: an input (render/input.h) as a source for the viewer.
 */
#ifndef FLAME_RENDER_VIEW_INPUTSOURCE_H
#define FLAME_RENDER_VIEW_INPUTSOURCE_H

#include "render/input.h"
#include "render/view/viewmodel.h"
#include "render/wrappers.h"

struct inputsource_options {
    int palette;       /* -1: each column has its view's */
    const char *label; /* borrowed */
    const struct wrappers_options *wrappers;
};

struct inputsource {
    struct view_source source;
    struct view_column *columns;
    double **self;
    bool **wrappers;
    char **titles; /* made here, or NULL */
    char *note;
};

/* Makes a source of the input's columns. Columns without counts are dropped, unless all are empty.
 * The input must outlive it. */
void inputsource_make(struct inputsource *s, const struct input *in,
                      const struct inputsource_options *o);
void inputsource_release(struct inputsource *s);

/* The column of that view, or the first. NULL: the first. */
uint32_t inputsource_find(const struct inputsource *s, const char *view);

#endif
