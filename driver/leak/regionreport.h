/*
 * regionreport.h: blocks still live at the ends of the programs' regions (flamemem.h), as text,
 * over all processes of a run.
 */
#ifndef FLAME_DRIVER_LEAK_REGIONREPORT_H
#define FLAME_DRIVER_LEAK_REGIONREPORT_H

#include "driver/leak/leakgroups.h"

/* Prints on standard error how much was live at the ends of regions, and each stack that allocated
 * it, one line each. Prints nothing if no block was. */
void regions_print(const struct leak_list *list, const struct leak_groups *groups);

#endif
