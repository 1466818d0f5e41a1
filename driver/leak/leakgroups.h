/*
 * leakgroups.h: leaks in groups, one for each repair: one group has the same stack and the same
 * class of leak, in any thread and process.
 *
 * Not thread-safe.
 */
#ifndef FLAME_DRIVER_LEAK_LEAKGROUPS_H
#define FLAME_DRIVER_LEAK_LEAKGROUPS_H

#include "common/strbuf.h"
#include "driver/leak/leaklist.h"

struct leak_group {
    const struct leak *leak; /* the largest of them; owned by the list */
    uint64_t bytes, blocks;
    size_t threads, processes;
};

struct leak_groups {
    struct leak_group *group; /* the largest first */
    size_t n;
};

/* Groups the leaks that count. The list is borrowed and must not change. */
void leak_groups_make(struct leak_groups *g, const struct leak_list *l);
void leak_groups_release(struct leak_groups *g);

/* Appends "12 bytes in 1 block, definite: function file:line (thread T of P 123)". A region's
 * line is "12 bytes in 1 block, region NAME: ...", and a growth's is "12 bytes in 1 block a
 * pass, fit 1.00: ... (...), kept by cache+0x8 of app through a < b", if that is known. */
void leak_group_add(struct strbuf *sb, const struct leak_group *g);

/* A number that is equal in all runs while the stack's functions and files do not change. */
uint64_t leak_group_fingerprint(const struct leak_group *g);

/* Continues a hash (common/hash.h) with the functions and the file names of a stack. */
uint64_t leak_hash_frames(uint64_t hash, const struct leak *leak);

/* Appends "function file:line", as far as that is known; the file as leak_source_path has it. */
void leak_add_place(struct strbuf *sb, const struct leak_frame *f);

/* The file's path for use in the present directory: relative if the file lies below it. Borrowed
 * from the frame. NULL: not known. */
const char *leak_source_path(const struct leak_frame *f);

#endif
