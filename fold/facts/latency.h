/*
 * latency.h: the view latency of traces of waiting: how many sleeps each stack had, by how long
 * they took (common/trace/sleepclass.h).
 *
 * The longest sleep of each stack of each thread is told apart from its class, so that the
 * maximum of whatever is added up is exact.
 */
#ifndef FLAME_FOLD_FACTS_LATENCY_H
#define FLAME_FOLD_FACTS_LATENCY_H

#include "common/trace/trace_reader.h"

/* By node of a stack, the row in which its longest sleep is; 0: none. The caller frees it. */
uint32_t *latency_longest(const struct trace *t);

#endif
