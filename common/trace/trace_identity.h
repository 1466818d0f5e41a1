/*
 * trace_identity.h: the identity of stacks across traces. Thread-safe.
 */
#ifndef FLAME_COMMON_TRACE_TRACE_IDENTITY_H
#define FLAME_COMMON_TRACE_TRACE_IDENTITY_H

#include "common/trace/trace.h"

/* A number that a stack of a program has in any trace and any thread, wherever its files were
 * mapped. */
uint64_t trace_stack_identity(const struct trace *t, uint32_t node);

#endif
