/*
 * error.h: how flame's commands speak when something is wrong.
 *
 * One line on standard error: "flame: WHERE: WHAT; WHAT TO DO". Never used
 * inside a traced program (the shim has its own note in preload/run/say.h).
 *
 * Exit statuses of every command: FLAME_OK, FLAME_FAILED (the work could not be
 * done), FLAME_USAGE (wrong usage or wrong input), FLAME_LEAKS (`flame leak` found leaks),
 * FLAME_UNCHECKED (a gate has not failed, but had nothing to judge, or not all).
 */
#ifndef FLAME_COMMON_ERROR_H
#define FLAME_COMMON_ERROR_H

#include <errno.h>
#include <stdbool.h>

#include "common/compiler.h"

enum flame_exit {
    FLAME_OK = 0,
    FLAME_FAILED = 1,
    FLAME_USAGE = 2,
    FLAME_LEAKS = 23,
    FLAME_UNCHECKED = 24,
};

/*
 * Prints "flame: " and the message and a newline in one write, so that lines
 * of several processes do not mix. What a terminal may not be sent (file
 * names are hostile) comes out as termtext.h says. Returns `status` so that callers can
 * write `return flame_error(FLAME_USAGE, ...)`. Thread-safe.
 */
int flame_error(int status, const char *fmt, ...) FLAME_PRINTF(2, 3);

/*
 * The lines for a file that cannot be read or written, the same in all commands: "flame: PATH:
 * cannot read: WHY; WHAT TO DO". `err` is -errno; path NULL or "-" is standard input or output.
 *
 * Reading fails with FLAME_USAGE. Writing does where the name is wrong (no such directory, no
 * right to it), and with FLAME_FAILED where the work could not be done (no space, say).
 */
int flame_cannot_read(const char *path, int err);
int flame_cannot_write(const char *path, int err);

/* An `err` of flame_cannot_write that is no errno's of writing: see outfile.h. */
#define FLAME_OTHERS_PIPE (-ENOTUNIQ)

/* The same without a status: something worth knowing, but the work goes on. */
void flame_warn(const char *fmt, ...) FLAME_PRINTF(1, 2);

/*
 * What happens inside, for those who look for a mistake in flame itself: lines on standard
 * error, "flame: DOMAIN: ...", of the domains that FLAME_DEBUG names, separated by commas.
 * The environment is read once. flame_debugs is cheap enough for a hot loop; say nothing
 * unless it is true.
 */
enum flame_domain {
    FLAME_DEBUG_EVENTS,  /* each event of a traced thread */
    FLAME_DEBUG_STACKS,  /* each stack taken of one: how it was walked */
    FLAME_DEBUG_SYMBOLS, /* where a module's names come from */
    FLAME_DEBUG_REPLAY,  /* all that the state machine of `flame off` is given */
};

/* Whether FLAME_DEBUG names domains only: FLAME_OK, or FLAME_USAGE after a line. */
int flame_debug_check(void);

bool flame_debugs(enum flame_domain domain);
void flame_debug(enum flame_domain domain, const char *fmt, ...) FLAME_PRINTF(2, 3);
/* A line of any length, without its end; the functions above cut theirs after 1,000 bytes or so.
 * Its bytes are printed as they are. Into a file the line goes in one piece, into a pipe only up to
 * PIPE_BUF. */
void flame_debug_line(enum flame_domain domain, const char *line, size_t len);

#endif
