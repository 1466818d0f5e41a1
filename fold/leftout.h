/*
 * leftout.h: what filters kept out of a view, and telling the user.
 */
#ifndef FLAME_FOLD_LEFTOUT_H
#define FLAME_FOLD_LEFTOUT_H

#include <stdbool.h>

#include "common/strbuf.h"

/* In the view's own terms, before they are scaled to its unit. */
struct left_out {
    uint64_t total; /* without any filter */
    uint64_t comm, exclude, idle;
    size_t idle_threads;
    struct strbuf idle_names; /* of a few of them */
};

#define LEFT_OUT_INIT                                                                              \
    {                                                                                              \
        .idle_names = STRBUF_INIT                                                                  \
    }

/* Extended regular expressions, compiled. */
struct excludes;

/* NULL after one line on standard error: one of them is no regular expression. */
struct excludes *excludes_new(const char *const *regexes, size_t n);
void excludes_free(struct excludes *e);
/* True when a frame's name, with or without its mark (_[k]), has a match of one. For
 * aggregate_exclude. */
bool excludes_match(void *excludes, const char *text, size_t len);

/* One line on standard error if anything was left out. `scale` nanoseconds, or 1 of
 * `unit`. */
void left_out_say(const struct left_out *l, const char *unit, uint32_t scale);
/* One line if l->idle, in nanoseconds, is most of l->total: --idle would leave it out. */
void left_out_propose_idle(const struct left_out *l);
void left_out_release(struct left_out *l);

#endif
