/*
 * latency.h: the view latency of traces of waiting: the number of sleeps of each stack, by
 * duration (common/trace/sleepclass.h).
 *
 * The longest sleep of each stack of each thread is kept apart from its class, so that the
 * maximum of any sum is exact.
 */
#ifndef FLAME_FOLD_ANALYSIS_LATENCY_H
#define FLAME_FOLD_ANALYSIS_LATENCY_H

#include "common/trace/trace_reader.h"

/* By node of a stack, the row in which its longest sleep is; 0: none. The caller frees it. */
uint32_t *latency_longest(const struct trace *t);

#endif
