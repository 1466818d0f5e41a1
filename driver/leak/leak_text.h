/*
 * leak_text.h: leaks for people, a line each on standard error.
 */
#ifndef FLAME_DRIVER_LEAK_LEAK_TEXT_H
#define FLAME_DRIVER_LEAK_LEAK_TEXT_H

#include "driver/leak/leakgroups.h"

/* Prints of those that regions left behind, or of the others, the `most` largest, as
 * leak_group_add has them, and how many there are besides. */
void leak_text_print(const struct leak_groups *groups, bool regions, size_t most);

#endif
