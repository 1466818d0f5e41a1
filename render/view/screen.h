/*
 * screen.h: the terminal as a full screen: cells onto it, keys from it.
 *
 * While the screen is there, standard error goes into memory, and is printed when it ends: a line
 * in the middle of the picture would soon be overwritten. However the process ends, except by
 * SIGKILL, the terminal is left as it was: SIGINT, SIGTERM and SIGHUP are events, and signals of a
 * crash restore it before they take effect.
 *
 * One at a time in a process, to be used by one thread.
 */
#ifndef FLAME_RENDER_VIEW_SCREEN_H
#define FLAME_RENDER_VIEW_SCREEN_H

#include "render/view/cells.h"

enum screen_event_kind {
    SCREEN_NOTHING, /* the time is over, or `also` can be read */
    SCREEN_KEY,
    SCREEN_CLICK,
    SCREEN_RESIZE,
    SCREEN_REDRAW, /* everything is to be drawn again */
    SCREEN_SIGNAL, /* SIGINT, SIGTERM or SIGHUP, or the terminal has gone */
};

struct screen_event {
    enum screen_event_kind kind;
    uint32_t key; /* as viewkeys.h has them */
    int y, x;
    int signal;
};

/*
 * Whether there is a terminal that can be drawn on, and the library for it: 0, or FLAME_USAGE
 * after a line. Call it before long work is begun; `command` is for the line. Sets the locale
 * for characters.
 */
int screen_check(const char *command);

/* Begins. 0, or FLAME_USAGE after a line. The keys come from standard input where that is a
 * terminal, else from /dev/tty. */
int screen_begin(const char *command);
/* Ends, and prints what was written to standard error meanwhile. Does nothing without a screen. */
void screen_end(void);

void screen_size(int *width, int *height);
/* Only ASCII may be put into cells. */
bool screen_is_ascii(void);

/* Shows the cells; unchanged cells are not sent again. */
void screen_show(const struct cells *c);

/* Waits for an event, `ms` milliseconds at most (negative: for ever), or until the descriptor
 * `also` can be read (negative: none). */
struct screen_event screen_wait(int ms, int also);

/* Ends the process by the signal that ended the viewer, if it is one, as if it had not been
 * handled. The screen must have ended. */
void screen_die_of(int signal);

#endif
