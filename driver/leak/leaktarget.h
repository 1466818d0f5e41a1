/*
 * leaktarget.h: commands that can be recorded, but in which leaks cannot be looked for.
 */
#ifndef FLAME_DRIVER_LEAK_LEAKTARGET_H
#define FLAME_DRIVER_LEAK_LEAKTARGET_H

#include "common/compiler.h"

/* 0, or FLAME_USAGE after a line on standard error that says why not. What cannot be recorded
 * at all is target.h's to tell, but for a command that is not there. */
int leak_target_check(const char *command);

#endif
