/*
 * trace_several.h: makes a file of several traces in memory, for tests, which may then spoil it.
 * The i-th trace (from 0) is of process i + 1 and has one row of 100 + i bytes.
 */
#ifndef FLAME_TESTS_UNIT_TRACE_SEVERAL_H
#define FLAME_TESTS_UNIT_TRACE_SEVERAL_H

#include <stdbool.h>

#include "common/trace_format.h"

struct several {
    uint8_t *data;
    size_t len, list_at;
};

/* With `recorded` each trace has a record of the recording 7 (TRACE_META_RECORDING). */
void several_init(struct several *s, uint32_t traces, bool recorded);
void several_release(struct several *s);

/* Pointers into the bytes. */
struct trace_list *several_list(struct several *s);
struct trace_place *several_place(struct several *s, uint32_t i);
struct trace_header *several_header(struct several *s, uint32_t i);

/* Writes the first `len` bytes to `path`; 0 or -errno. */
int several_write(const struct several *s, const char *path, size_t len);

#endif
