/*
 * viewdraw.h: the viewer's model as a screen of cells.
 *
 * From top to bottom: the name of the view and its total; the graph, or the table under its
 * headings; the chosen frame's name and counts; keys, or the query that is being typed. All of it
 * fits into any screen: parts without room are not drawn, the body is dropped last.
 */
#ifndef FLAME_RENDER_VIEW_VIEWDRAW_H
#define FLAME_RENDER_VIEW_VIEWDRAW_H

#include "render/view/viewmodel.h"

/* Draws all of it anew; the cells take the model's size. The model must be settled. */
void viewdraw(struct viewmodel *m, struct cells *c);

#endif
