/*
 * regionreport.h: blocks that the regions of programs (flamemem.h) left behind, over all
 * processes of a run, for people.
 */
#ifndef FLAME_DRIVER_LEAK_REGIONREPORT_H
#define FLAME_DRIVER_LEAK_REGIONREPORT_H

#include "driver/leak/leakgroups.h"

/* Prints on standard error how much the regions left, and where it was allocated, a line each.
 * Prints nothing if they left nothing. */
void regions_print(const struct leak_list *list, const struct leak_groups *groups);

#endif
