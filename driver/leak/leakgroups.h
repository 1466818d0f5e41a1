/*
 * leakgroups.h: leaks put together by what a reader wants to repair: one stack, one way of
 * losing, whichever threads and processes lost there.
 *
 * Not thread-safe.
 */
#ifndef FLAME_DRIVER_LEAK_LEAKGROUPS_H
#define FLAME_DRIVER_LEAK_LEAKGROUPS_H

#include "common/strbuf.h"
#include "driver/leak/leaklist.h"

struct leak_group {
    const struct leak *leak; /* the largest of them; the list's */
    uint64_t bytes, blocks;
    size_t threads, processes;
};

struct leak_groups {
    struct leak_group *group; /* the largest first */
    size_t n;
};

/* Of the leaks that count. The list is borrowed and must stay as it is. */
void leak_groups_make(struct leak_groups *g, const struct leak_list *l);
void leak_groups_release(struct leak_groups *g);

/* Appends "12 bytes in 1 block, definite: function file:line (thread T of P 123)"; of a region
 * it is "12 bytes in 1 block, region NAME: ...", and of growth "12 bytes in 1 block a pass, fit
 * 1.00: ...". */
void leak_group_add(struct strbuf *sb, const struct leak_group *g);

/* A number that stays the same from run to run while the stack's functions and files do. */
uint64_t leak_group_fingerprint(const struct leak_group *g);

/* A hash (common/fnv.h) goes on with the functions and the files' names of a stack. */
uint64_t leak_hash_frames(uint64_t hash, const struct leak *leak);

/* Appends "function file:line", as far as that is known; the file as leak_source_path has it. */
void leak_add_place(struct strbuf *sb, const struct leak_frame *f);

/* The file's path as somebody in the present directory would write it: without that
 * directory if it lies below it. Borrowed from the frame. NULL: not known. */
const char *leak_source_path(const struct leak_frame *f);

#endif
