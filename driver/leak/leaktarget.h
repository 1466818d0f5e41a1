/* leaktarget.h: commands that can be recorded, but not scanned for leaks. */
#ifndef FLAME_DRIVER_LEAK_LEAKTARGET_H
#define FLAME_DRIVER_LEAK_LEAKTARGET_H

#include "common/compiler.h"

/* Returns 0, or FLAME_USAGE after a line on standard error that gives the reason. target.h reports
 * programs that cannot be recorded at all, except a command that does not exist. */
int leak_target_check(const char *command);

#endif
