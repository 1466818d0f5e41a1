/*
 * trace_identity.h: which stacks of traces are the same. Thread-safe.
 */
#ifndef FLAME_COMMON_TRACE_TRACE_IDENTITY_H
#define FLAME_COMMON_TRACE_TRACE_IDENTITY_H

#include "common/trace/trace_reader.h"

/* What is equal for the same stack of the same program in any trace and any thread, whatever was
 * mapped where. */
uint64_t trace_stack_identity(const struct trace *t, uint32_t node);

#endif
