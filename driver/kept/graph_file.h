/*
 * graph_file.h: reads the file in which a recorded process has stored what leads to its blocks
 * (preload/kept/heap_graph_file.h).
 *
 * The program could write to the file, so nothing in it is believed: numbers are checked against
 * what they are numbers of, and memory grows with what was read.
 */
#ifndef FLAME_DRIVER_KEPT_GRAPH_FILE_H
#define FLAME_DRIVER_KEPT_GRAPH_FILE_H

#include <sys/types.h>

#include "driver/kept/keptheap.h"

struct graph_file {
    struct keptheap heap; /* everything in it belongs to the file below */
    struct agent_block *blocks;
    struct heap_scan_root *roots;
    struct kept_place *places;
    uint32_t *edges_at, *edges;
    struct heap_thread *threads;
    size_t block_room, root_room, place_room, edge_room, thread_room;
    uint64_t bad_at; /* after an error: byte of the file */
};

/* Stores up to `size` next bytes. Returns their number; 0: there are no more; -1: an error. */
typedef ssize_t graph_file_source(void *arg, void *to, size_t size);

/* Reads all of it; `rows`: ids of the trace's rows are below this. False: the bytes are no such
 * file, or it is cut or damaged, or cannot be read; bad_at says where. In both cases it must be
 * released. */
bool graph_file_read(struct graph_file *f, uint32_t rows, graph_file_source *source, void *arg);
void graph_file_release(struct graph_file *f);

#endif
