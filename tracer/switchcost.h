/*
 * switchcost.h: what a stop costs a program besides the time its handling takes: going
 * to sleep, waking the tracer, being woken.
 */
#ifndef FLAME_TRACER_SWITCHCOST_H
#define FLAME_TRACER_SWITCHCOST_H

#include "common/compiler.h"

/* Measured on a child of our own, in about a millisecond; ns. 0 when that fails. */
uint64_t switch_cost_ns(void);

#endif
