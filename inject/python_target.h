/*
 * python_target.h: the Python interpreter that an attached process runs.
 */
#ifndef FLAME_INJECT_PYTHON_TARGET_H
#define FLAME_INJECT_PYTHON_TARGET_H

#include "inject/agent/agent.h"
#include "inject/linkmap.h"

/* Facts that the agent needs to name functions. out->version is 0 if there is no interpreter, or if
 * its functions cannot have names; *unnamed is then as in struct trace_header. */
void python_target_find(struct agent_python *out, uint32_t *unnamed, const struct procmem *m,
                        const struct linkmap *l);

#endif
