/*
 * heap_graph.h: writes which words of the process lead to which of its blocks to a file
 * (preload/kept/heap_graph_file.h), from which the driver finds who keeps them.
 *
 * A scan of its own (heap_scan_roots): roots are listed, and then all memory is read once, in order
 * of address. A block's number is its rank in the block map, so no table of numbers is needed. No
 * malloc.
 */
#ifndef FLAME_PRELOAD_KEPT_HEAP_GRAPH_H
#define FLAME_PRELOAD_KEPT_HEAP_GRAPH_H

#include <stdbool.h>

#include "preload/leak/heap_scan.h"

struct heap_graph_paths {
    const char *path;  /* while it is written */
    const char *whole; /* afterwards */
};

/* For heap_scan_roots; `arg` is a struct heap_graph_paths. False: there is no file. */
bool heap_graph_write(const struct heap_scan_rooted *r, void *arg);

#endif
