/*
 * regionreport.h: what the regions that a program marked in itself left behind (flamemem.h), over
 * all processes of a run, for people.
 */
#ifndef FLAME_DRIVER_LEAK_REGIONREPORT_H
#define FLAME_DRIVER_LEAK_REGIONREPORT_H

#include "driver/leak/leakgroups.h"

/* Says on standard error how much they left, and where it was allocated, a line each. Nothing
 * where nothing was left. */
void regions_print(const struct leak_list *list, const struct leak_groups *groups);

#endif
