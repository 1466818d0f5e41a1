/*
 * leaklines.h: leaks for people, a line each on standard error.
 */
#ifndef FLAME_DRIVER_LEAK_LEAKLINES_H
#define FLAME_DRIVER_LEAK_LEAKLINES_H

#include "driver/leak/leakgroups.h"

/* Prints the `most` largest, as leak_group_add has them, and how many there are besides. */
void leak_lines_print(const struct leak_groups *groups, size_t most);

#endif
