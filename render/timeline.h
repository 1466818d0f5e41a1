/*
 * timeline.h: what was live over time in the stacks of a tree, from the comments that folded text
 * has of it (flame-folded(5), fold/timetext.h), for a page to draw.
 *
 * Several texts, each with moments of its own, become one: a change is at its time, whatever other
 * texts say of that. Comments that make no sense are counted and left aside: they are anybody's.
 *
 *   lifecycle  timeline_init, timeline_comment and timeline_placed while text is read,
 *              timeline_finish, timeline_release
 *   ownership  what is given is copied
 *   threads    none: one timeline is one thread's
 */
#ifndef FLAME_RENDER_TIMELINE_H
#define FLAME_RENDER_TIMELINE_H

#include <stdbool.h>

#include "common/strbuf.h"

/* What a history is of: the view whose bytes they are, by timeline_view. */
enum timeline_kind {
    TIMELINE_LIVE,
    TIMELINE_MAPPED,
    TIMELINE_KINDS,
};

struct timeline {
    /* By how much things changed at a moment. */
    struct timeline_moment {
        uint64_t us; /* microseconds from the beginning of the recording */
        int64_t live, mapped, rss;
        size_t nth; /* until timeline_finish: as it was read */
    } * moments;
    size_t n, room;
    struct timeline_mark {
        uint64_t us;
        char *name;
        size_t len; /* the name may hold any bytes */
    } * marks;
    size_t nmarks, marks_room;
    struct timeline_history {
        enum timeline_kind kind;
        uint32_t node;    /* of the tree, or TIMELINE_NOWHERE */
        size_t first, nn; /* of the changes */
    } * histories;        /* after timeline_finish by kind and then by node */
    size_t nhistories, histories_room;
    struct timeline_change {
        size_t moment; /* index of one; of one history they ascend */
        int64_t bytes;
    } * changes;
    size_t nchanges, changes_room;
    size_t begun; /* first moment of the text that is being read */
    uint64_t wrong, first_wrong;
};

#define TIMELINE_NOWHERE UINT32_MAX

void timeline_init(struct timeline *tl);
void timeline_release(struct timeline *tl);

/* The view that a kind is of: "live", "mmap". */
const char *timeline_view(enum timeline_kind kind);

/* Another text begins: its moments are apart from those before. */
void timeline_begin(struct timeline *tl);

/*
 * Takes a comment, which is line number `line`. True: it is of a stack's history, s[*stack] and
 * on is the stack, *stack_len bytes of it, and *history is what timeline_placed is to be told.
 */
bool timeline_comment(struct timeline *tl, const char *s, size_t len, uint64_t line,
                      const char **stack, size_t *stack_len, size_t *history);
void timeline_placed(struct timeline *tl, size_t history, uint32_t node);

/* Puts moments in order, and what is of one time or one node together. */
void timeline_finish(struct timeline *tl);

#endif
