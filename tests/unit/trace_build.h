/*
 * trace_build.h: makes traces in memory, for tests. The bytes are what a
 * recorder would leave behind; tests may then spoil them.
 *
 * Ids are those of trace_format.h. Pointers into the bytes are good until the
 * next call that adds something. tb_release frees everything.
 */
#ifndef FLAME_TESTS_UNIT_TRACE_BUILD_H
#define FLAME_TESTS_UNIT_TRACE_BUILD_H

#include "common/trace_format.h"

struct trace_build {
    uint8_t *data;
    size_t len; /* header and whole segments */
    uint64_t meta_at, meta_end;
    struct tb_array {
        uint32_t next, end;   /* ids left in the newest segment */
        uint64_t *segment_at; /* where in the file the segment with an index is */
        uint32_t segments;
    } arrays[TRACE_SEG_THREADS + 1];
};

void tb_init(struct trace_build *b);
void tb_release(struct trace_build *b);
struct trace_header *tb_header(struct trace_build *b);

/* Returns the file offset of the record. */
uint64_t tb_meta(struct trace_build *b, uint32_t type, const void *payload, size_t len);
uint64_t tb_meta_string(struct trace_build *b, uint32_t type, const char *s);
void tb_module(struct trace_build *b, const struct trace_module *m, const char *path);
/* One without a build-id, there from the first epoch on. */
void tb_module_plain(struct trace_build *b, uint64_t start, uint64_t end, uint64_t bias,
                     const char *path);

uint32_t tb_root(struct trace_build *b, uint32_t epoch, uint32_t thread);
uint32_t tb_node(struct trace_build *b, uint32_t kind, uint64_t addr, uint32_t parent);
uint32_t tb_thread(struct trace_build *b, uint32_t tid, const char *comm);
/* A row for `node` with its alloc counters set; change the rest through tb_row_at. */
uint32_t tb_row(struct trace_build *b, uint32_t node, uint16_t thread, uint64_t bytes,
                uint64_t calls);

struct trace_node *tb_node_at(struct trace_build *b, uint32_t id);
struct trace_row *tb_row_at(struct trace_build *b, uint32_t id);
struct trace_thread *tb_thread_at(struct trace_build *b, uint32_t id);

/* Writes the bytes to `path`; 0 or -errno. */
int tb_write(const struct trace_build *b, const char *path);

#endif
