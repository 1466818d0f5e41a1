/*
 * leak_verdicts.h: which of the blocks that the agent knows can still be reached, for the trace.
 */
#ifndef FLAME_INJECT_LEAK_VERDICTS_H
#define FLAME_INJECT_LEAK_VERDICTS_H

#include "inject/agent_trace.h"
#include "inject/attachment.h"
#include "inject/memory/heap_scan.h"

/* Adds the verdicts to the trace, which has all stacks of the agent. Returns the sum of leaks. */
struct leak_sum leak_verdicts_add(struct agent_trace *t, const struct heap_scan *s);

#endif
