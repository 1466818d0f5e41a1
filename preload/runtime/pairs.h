/*
 * pairs.h: hash table from two numbers to a third, in pages.
 *
 * Not thread-safe; no malloc.
 */
#ifndef FLAME_PRELOAD_RUNTIME_PAIRS_H
#define FLAME_PRELOAD_RUNTIME_PAIRS_H

#include <stdbool.h>

#include "common/compiler.h"

struct pairs { /* all zero: empty */
    struct pair {
        uint32_t a, b;
        uint32_t value; /* 0: the slot is free */
    } * known;
    uint32_t n, size; /* entries; a power of two, or 0 */
};

/* The value, or 0 if there is no entry for `a` and `b`. */
uint32_t pairs_find(const struct pairs *p, uint32_t a, uint32_t b);

/* Makes room for one more entry. False: there is no memory. */
bool pairs_make_room(struct pairs *p);

/* Adds an entry that is not in the table yet, for which there is room. `value` is not 0. */
void pairs_add(struct pairs *p, uint32_t a, uint32_t b, uint32_t value);

/* pairs_clear empties the table and keeps its memory; pairs_release frees the memory, too. */
void pairs_clear(struct pairs *p);
void pairs_release(struct pairs *p);

#endif
