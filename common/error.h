/*
 * error.h: how flame's commands speak when something is wrong.
 *
 * One line on standard error: "flame: WHERE: WHAT; WHAT TO DO". Never used
 * inside a traced program (the shim has its own note in preload/say.h).
 *
 * Exit statuses of every command: FLAME_OK, FLAME_FAILED (the work could not be
 * done), FLAME_USAGE (wrong usage or wrong input), FLAME_LEAKS.
 */
#ifndef FLAME_COMMON_ERROR_H
#define FLAME_COMMON_ERROR_H

#include "common/compiler.h"

enum flame_exit {
    FLAME_OK = 0,
    FLAME_FAILED = 1,
    FLAME_USAGE = 2,
    FLAME_LEAKS = 23,
};

/*
 * Prints "flame: " and the message and a newline in one write, so that lines
 * of several processes do not mix. Control characters in the message (file
 * names are hostile) come out as '?'. Returns `status` so that callers can
 * write `return flame_error(FLAME_USAGE, ...)`. Thread-safe.
 */
int flame_error(int status, const char *fmt, ...) FLAME_PRINTF(2, 3);

/* The same without a status: something worth knowing, but the work goes on. */
void flame_warn(const char *fmt, ...) FLAME_PRINTF(1, 2);

#endif
