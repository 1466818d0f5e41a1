/*
 * timeline.h: live memory over time in the stacks of a tree, read from the comments of folded
 * text (flame-folded(5), fold/timeline_text.h), for a page to draw.
 *
 * Several texts, each with moments of its own, become one: a change is at its time, whatever
 * other texts have at that time. The text is outside input: comments that make no sense are
 * counted and skipped.
 *
 *  lifecycle  timeline_init, timeline_comment and timeline_placed while text is read,
 *             timeline_finish, timeline_release
 *  ownership  arguments are copied
 *  threads    none: one timeline is one thread's
 */
#ifndef FLAME_RENDER_TIMELINE_H
#define FLAME_RENDER_TIMELINE_H

#include <stdbool.h>

#include "common/strbuf.h"

/* The kind of a history: the view whose bytes it has, by timeline_view. */
enum timeline_kind {
    TIMELINE_LIVE,
    TIMELINE_MAPPED,
    TIMELINE_KINDS,
};

struct timeline {
    /* The changes of the totals at a moment. */
    struct timeline_moment {
        uint64_t us; /* microseconds from the beginning of the recording */
        int64_t live, mapped, rss;
        size_t nth; /* until timeline_finish: as it was read */
    } * moments;
    size_t n, room;
    /* CLOCK_MONOTONIC of the beginning of the recording; 0: not known, or there are several. */
    uint64_t zero_ns;
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
        size_t moment; /* index of its moment; they ascend within a history */
        int64_t bytes;
    } * changes;
    size_t nchanges, changes_room;
    size_t begun; /* first moment of the text that is being read */
    uint64_t wrong, first_wrong;
};

#define TIMELINE_NOWHERE UINT32_MAX

void timeline_init(struct timeline *tl);
void timeline_release(struct timeline *tl);

/* The view of a kind: "live", "mmap". */
const char *timeline_view(enum timeline_kind kind);

/* Begins another text: its moments are apart from those before. */
void timeline_begin(struct timeline *tl);

/*
 * Takes a comment, which is line number `line`. True: it is of a stack's history. *stack points
 * to the stack in s, *stack_len bytes long, and *history has to be passed to timeline_placed.
 */
bool timeline_comment(struct timeline *tl, const char *s, size_t len, uint64_t line,
                      const char **stack, size_t *stack_len, size_t *history);
void timeline_placed(struct timeline *tl, size_t history, uint32_t node);

/* Sorts moments, and merges those of one time, and histories of one node. */
void timeline_finish(struct timeline *tl);

#endif
