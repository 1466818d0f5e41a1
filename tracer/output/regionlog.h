/*
 * regionlog.h: writes the times at which regions of threads were open into a trace of waiting
 * (TRACE_META_REGION_TIME).
 *
 * A region is written as soon as it is over, so the trace of a killed tracer has all regions that
 * had ended. There is room for REGIONLOG_MOST of them, and for REGIONLOG_NAMES names; further ones
 * are counted. Not thread-safe.
 */
#ifndef FLAME_TRACER_OUTPUT_REGIONLOG_H
#define FLAME_TRACER_OUTPUT_REGIONLOG_H

#include "common/trace/trace_writer.h"

#define REGIONLOG_MOST (1u << 20) /* of 32 bytes each */
#define REGIONLOG_NAMES 4096u

struct regionlog;

/* The writer is borrowed. */
struct regionlog *regionlog_new(struct trace_writer *w);
void regionlog_free(struct regionlog *l); /* NULL: does nothing */

/* Number of a name plus one; the name may have any bytes but NUL. 0: there is no room. */
uint32_t regionlog_name(struct regionlog *l, const char *name, size_t len);

/* Adds a region. `number` is that of its name, plus one; 0: the region is counted as lost. */
void regionlog_add(struct regionlog *l, uint16_t thread, uint32_t number, uint64_t begin,
                   uint64_t end, enum trace_region_flag flags);

#endif
