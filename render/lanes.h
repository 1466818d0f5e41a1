/*
 * lanes.h: threads' waits over time, read from the comments of folded text (flame-folded(5),
 * fold/lanetext.h), for a page to draw.
 *
 * The first text that has such comments counts; those of other texts are skipped and counted,
 * and so are comments that make no sense, as the text is outside input. Packed numbers are
 * checked and then stay packed: a page reads only rows and threads that exist.
 *
 *  lifecycle  lanes_init, lanes_comment and lanes_placed while text is read, lanes_finish,
 *             lanes_release
 *  ownership  arguments are copied
 *  threads    none: one object is one thread's
 */
#ifndef FLAME_RENDER_LANES_H
#define FLAME_RENDER_LANES_H

#include <stdbool.h>
#include <string.h>

#include "common/strbuf.h"

/* Part of a text that is kept. */
struct lanes_span {
    size_t at, len;
};

struct lanes {
    uint64_t nrows, short_ns, window_ns, lost_ns;
    uint64_t zero_ns; /* CLOCK_MONOTONIC of the beginning; 0: not known */
    struct lanes_thread {
        uint64_t pid, tid, uses, wall_ns, cpu_ns, runq_ns;
        uint64_t parent;           /* thread plus one that created it; not checked; 0: not known */
        struct strbuf name, title; /* any bytes */
    } * threads;
    size_t nthreads, threads_room, threads_said;
    struct lanes_span thread, kind, waker; /* by row, packed */
    /* Links of chains, in place of rows in the view chain: link numbers, and from nlinks on rows.
     */
    uint64_t nlinks, whole_ns; /* nlinks 0: none */
    struct lanes_span links, woke, same, first, lives;
    struct lanes_stack {
        char view[16];
        uint32_t node; /* of the tree, or LANES_NOWHERE */
        size_t first, n;
    } * stacks; /* after lanes_finish by view and then by node */
    size_t nstacks, stacks_room;
    uint32_t *rows; /* of stacks */
    size_t nof, rows_room;
    struct lanes_waits {
        uint64_t thread;
        struct lanes_span data;
    } * waits;
    size_t nwaits, waits_room;
    struct lanes_path {
        uint64_t short_ns;
        struct lanes_span data;
    } * paths; /* critical paths, one for each recording */
    size_t npaths, paths_room;
    struct lanes_region {
        struct strbuf name; /* any bytes */
        struct lanes_span data;
    } * regions; /* of the program, one entry for each name */
    size_t nregions, regions_room;
    struct strbuf text; /* the text that spans point into */
    bool begun, over;   /* a text with lanes has begun; another one follows */
    uint64_t wrong, first_wrong;
    uint64_t others; /* texts that followed */
};

#define LANES_NOWHERE UINT32_MAX

void lanes_init(struct lanes *l);
void lanes_release(struct lanes *l);

/*
 * Takes a comment, which is line number `line`. True: it is of a stack. *stack points to the
 * stack in s, *stack_len bytes long, and *nth has to be passed to lanes_placed.
 */
bool lanes_comment(struct lanes *l, const char *s, size_t len, uint64_t line, const char **stack,
                   size_t *stack_len, size_t *nth);
void lanes_placed(struct lanes *l, size_t nth, uint32_t node);

void lanes_finish(struct lanes *l);

/* Whether the numbers of the view's stacks are those of links, and from nlinks on of rows. */
static inline bool lanes_view_has_links(const struct lanes *l, const char *view)
{
    return l->nlinks && strcmp(view, "chain") == 0;
}

/* Whether there is anything to draw. */
static inline bool lanes_any(const struct lanes *l)
{
    return l && l->nwaits > 0;
}

#endif
