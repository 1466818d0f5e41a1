/*
 * linkcall.h: the frame of a chain of wakers that its count belongs to in tables of functions.
 *
 * A waker's stack is reversed, so a chain ends with a thread's name, which says nothing of what
 * that thread did. Its count belongs to the call of the last waker, as that of a sleeper without
 * wakers does. Pure, thread-safe.
 */
#ifndef FLAME_RENDER_LINKCALL_H
#define FLAME_RENDER_LINKCALL_H

#include "render/frametree.h"

/*
 * For a waker's frame (annotated _[w]) behind a "--" the first frame behind that, or the one after
 * where the first is no call but has ended it: [timer] in "[timer];nanosleep;nap;main;app". Where
 * the waker is its name alone, and for all other frames, `node` itself.
 */
uint32_t linkcall_of(const struct frametree *t, uint32_t node);

#endif
