/*
 * graph_out.h: a file of numbers that is written once, from its beginning to its end
 * (preload/kept/heap_graph_file.h). Whole or not there at all.
 *
 * By one thread, which may be that of a copy of the process. No malloc.
 */
#ifndef FLAME_PRELOAD_KEPT_GRAPH_OUT_H
#define FLAME_PRELOAD_KEPT_GRAPH_OUT_H

#include <stdbool.h>

#include "common/compiler.h"

#define GRAPH_OUT_SIZE ((size_t)256 << 10)

struct graph_out {
    const char *path, *whole;
    int fd;
    uint8_t *bytes; /* GRAPH_OUT_SIZE of them */
    size_t n;
    uint64_t left; /* bytes that the process's limit of files allows */
    bool failed;   /* the disk is full, or the limit is reached */
};

/* Creates the file `path`, which must not exist. Both are borrowed. False: there is no file. */
bool graph_out_begin(struct graph_out *o, const char *path, const char *whole);
/* Gives the file the name `whole`, which must be free; false: it is removed. */
bool graph_out_end(struct graph_out *o);

/* For the two below. */
void graph_out_drain(struct graph_out *o);

static inline void graph_out_byte(struct graph_out *o, uint8_t byte)
{
    if (unlikely(o->n == GRAPH_OUT_SIZE))
        graph_out_drain(o);
    o->bytes[o->n++] = byte;
}

static inline void graph_out_number(struct graph_out *o, uint64_t v)
{
    for (; v >= 128; v >>= 7)
        graph_out_byte(o, (uint8_t)(v | 128));
    graph_out_byte(o, (uint8_t)v);
}

#endif
