/*
 * leak_text.h: leaks for people, a line each on standard error.
 */
#ifndef FLAME_DRIVER_LEAK_LEAK_TEXT_H
#define FLAME_DRIVER_LEAK_LEAK_TEXT_H

#include "driver/leak/leakgroups.h"

/* Prints the `most` largest leaks of regions, or of the others, as leak_group_add formats them, and
 * the number of the rest. */
void leak_text_print(const struct leak_groups *groups, bool regions, size_t most);

#endif
