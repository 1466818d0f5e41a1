/*
 * tags.h: tags by which the program labels its allocations. Each tag of a thread is a node between
 * the thread's root and its stacks.
 *
 * Tags nest. A thread's stacks are interned above the node of its newest tag (stacks_set_base). A
 * forked child's thread has the tags that it had in the parent. The functions change the calling
 * thread's own state, with the guard at GUARD_RECORDING. No malloc.
 */
#ifndef FLAME_PRELOAD_TAGS_H
#define FLAME_PRELOAD_TAGS_H

#include <stdbool.h>

#include "preload/sidetables/regions.h"

#define TAGS_DEEP 32u     /* limit of nesting */
#define TAGS_NODES 65536u /* different tags, or sequences of them, of a thread */

struct thread_state;

/* Begins a tag; up to REGION_NAME_MAX - 1 bytes of the name are stored. False: there is no room,
 * and allocations count as before. In either case tags_pop must be called. */
bool tags_push(struct thread_state *t, const char *name);

/* Ends the newest tag. False: the thread has no tag. */
bool tags_pop(struct thread_state *t);

/* To be called when the thread's stacks have a new root. `fresh`: in another trace. */
void tags_new_root(struct thread_state *t, bool fresh);

/* To be called when another thread, which has no tags, takes over the state. */
void tags_drop(struct thread_state *t);

/* Frees all tags. */
void tags_release(struct thread_state *t);

#endif
