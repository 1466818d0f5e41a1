/*
 * leakkeepers.h: keepers of the blocks of what grows, by the view of that (TRACE_ROW_KEPT): by the
 * function that allocated them, as that view has it.
 */
#ifndef FLAME_DRIVER_LEAK_LEAKKEEPERS_H
#define FLAME_DRIVER_LEAK_LEAKKEEPERS_H

#include "driver/leak/leaklist.h"

/*
 * Sets `kept_by` and `through` of the leaks. `traces` are sums over processes. A leak whose keeper
 * is not known has none: its process did not come to exit, say. 0, or an enum flame_exit after a
 * line.
 */
int leak_keepers_find(struct leak_list *l, struct trace *const *traces, size_t ntraces);

#endif
