/*
 * pairs.h: a table from two numbers to a third, in pages.
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
        uint32_t value; /* 0: nothing here */
    } * known;
    uint32_t n, size; /* entries; a power of two, or 0 */
};

/* 0: it is not in there. */
uint32_t pairs_find(const struct pairs *p, uint32_t a, uint32_t b);

/* Room for one more. False: there is no memory. */
bool pairs_make_room(struct pairs *p);

/* Adds one that is not there yet, for which there is room. `value` is not 0. */
void pairs_add(struct pairs *p, uint32_t a, uint32_t b, uint32_t value);

/* Empties it and keeps its memory, or gives that back. */
void pairs_clear(struct pairs *p);
void pairs_release(struct pairs *p);

#endif
