/*
 * firefoxwaits.h: threads' waits in time order, as markers of a profile for the Firefox Profiler.
 *
 * The profile's shared tables have strings and stacks for them, so they are made before these
 * tables are written.
 *
 *  lifecycle  firefoxwaits_init, firefoxwaits_release (always)
 *  ownership  tree, options and functions are borrowed
 */
#ifndef FLAME_RENDER_EXPORT_FIREFOXWAITS_H
#define FLAME_RENDER_EXPORT_FIREFOXWAITS_H

#include "render/export/functable.h"
#include "render/export/waitlist.h"
#include "render/text/outstream.h"

/* A row of the stack table. */
struct firefoxwaits_stack {
    uint32_t name;   /* of the tree */
    uint32_t prefix; /* row of the table, or UINT32_MAX */
};

struct firefoxwaits {
    struct waitlist w;
    bool any; /* there are waits */
    const struct functable *ft;
    uint32_t *names, *flows;           /* by wait: strings */
    uint32_t *wakers;                  /* by thread: its name as a string */
    struct firefoxwaits_stack *stacks; /* of wakers: rows behind those of the tree's nodes */
    size_t nstacks, stacks_room;
    uint32_t *stack_of; /* by node of a stack with its waker: the waker's row plus one */
    size_t *wakes;      /* waits that have a waking call, by waker */
    size_t *first_wake; /* by thread: index of its first in that, and one more at the end */
    uint32_t nthreads;  /* with markers */
};

/* Adds strings to `ft`, which is filled already. */
void firefoxwaits_init(struct firefoxwaits *f, const struct frametree *t,
                       const struct render_options *o, struct functable *ft);
void firefoxwaits_release(struct firefoxwaits *f);

/* Appends the elements of the list of marker schemas. */
void firefoxwaits_add_schemas(const struct firefoxwaits *f, struct strbuf *sb);
/* Writes a thread for each that has markers, with a comma before it. */
void firefoxwaits_add_threads(const struct firefoxwaits *f, struct outstream *out);

#endif
