/*
 * error.h: error messages and exit statuses of flame's commands.
 *
 * A message is one line on standard error: "flame: WHERE: WHAT; WHAT TO DO". Never used inside a
 * traced program (the recorder has messages of its own, in preload/runtime/log.h).
 *
 * Exit statuses of every command: FLAME_OK, FLAME_FAILED (the work could not be done), FLAME_USAGE
 * (wrong usage or wrong input), FLAME_LEAKS (`flame leak` found leaks), FLAME_UNCHECKED (a gate has
 * not failed, but it had nothing to judge, or could not judge all).
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
 * Prints "flame: " and the message and a newline in one write, so that lines of several processes
 * do not mix. Bytes that must not reach a terminal (file names are hostile) are shown as termtext.h
 * says. Returns `status` so that callers can write `return flame_error(FLAME_USAGE, ...)`.
 * Thread-safe.
 */
int flame_error(int status, const char *fmt, ...) FLAME_PRINTF(2, 3);

/*
 * Lines about a file that cannot be read or written, equal in all commands: "flame: PATH: cannot
 * read: WHY; WHAT TO DO". `err` is -errno; path NULL or "-" is standard input or output.
 *
 * Reading fails with FLAME_USAGE. Writing does where the name is wrong (no such directory, no
 * permission), and with FLAME_FAILED where the work could not be done (no space, say).
 */
int flame_cannot_read(const char *path, int err);
int flame_cannot_write(const char *path, int err);

/* Value of `err` for flame_cannot_write that no failing write returns: the file is another user's
 * pipe, see outfile.h. */
#define FLAME_OTHERS_PIPE (-ENOTUNIQ)

/* Prints a warning as flame_error prints an error; it has no status, and the work continues. */
void flame_warn(const char *fmt, ...) FLAME_PRINTF(1, 2);

/*
 * Debug output, to search for a mistake in flame itself: lines on standard error, "flame: DOMAIN:
 * ...", of the domains that FLAME_DEBUG names, separated by commas. The environment is read once.
 * flame_debugs is cheap enough for a hot loop; print nothing unless it is true.
 */
enum flame_domain {
    FLAME_DEBUG_EVENTS,  /* each event of a traced thread */
    FLAME_DEBUG_STACKS,  /* each stack of such a thread, and how it was walked */
    FLAME_DEBUG_SYMBOLS, /* where a module's names come from */
    FLAME_DEBUG_REPLAY,  /* all input of the state machine of `flame off` */
};

/* Checks that FLAME_DEBUG names only domains: FLAME_OK, or FLAME_USAGE after a line. */
int flame_debug_check(void);

bool flame_debugs(enum flame_domain domain);
void flame_debug(enum flame_domain domain, const char *fmt, ...) FLAME_PRINTF(2, 3);
/* Prints a line of any length, passed without its newline; the functions above cut their lines
 * after 1,000 bytes or so. Its bytes are printed as they are. Into a file the line goes in one
 * piece, into a pipe only up to PIPE_BUF. */
void flame_debug_line(enum flame_domain domain, const char *line, size_t len);

#endif
