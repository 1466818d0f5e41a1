/*
 * keptspace.h: modules and recorded stacks of the process whose heap it is, and the trace that gets
 * the rows (TRACE_ROW_KEPT). Two kinds of traces are behind it: one that is being made of a process
 * that is attached to (attached_heap.c), and one that a process has left (ended_trace.c).
 */
#ifndef FLAME_DRIVER_KEPT_KEPTSPACE_H
#define FLAME_DRIVER_KEPT_KEPTSPACE_H

#include <stdbool.h>
#include <stddef.h>

#include "common/compiler.h"

struct kept_module {
    const char *path;
    const uint8_t *build_id;
    uint32_t build_id_size, layout; /* layout as in struct trace_module; 0: not known */
    uintptr_t bias;
};

struct keptspace {
    void *arg; /* of all functions below */
    /* The module that `addr` lies in; its pointers are borrowed until the next call. False: it
     * lies in none. */
    bool (*module)(void *arg, uintptr_t addr, struct kept_module *m);
    /* Inner frames of the stack with that row number, innermost first: return addresses, or
     * numbers that frame_text knows. Borrowed until the next call. NULL: it is not known. */
    const uint64_t *(*inner)(void *arg, uint32_t row, size_t *n);
    /* The name of a frame that is no address. NULL: it is one. */
    const char *(*frame_text)(void *arg, uint64_t frame, size_t *len);
    /* Nodes of the trace, above `below`; 0 stands for the root of all of them. */
    uint32_t (*keeper)(void *arg, uint32_t below, const char *name, size_t len);
    uint32_t (*site)(void *arg, uint32_t below, uint64_t frame);
    /* Adds a row; with node 0 it is only stored that there was a search. */
    void (*row)(void *arg, uint32_t node, uint64_t bytes, uint64_t blocks);
};

#endif
