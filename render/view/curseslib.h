/*
 * curseslib.h: the functions of ncurses that the viewer needs, found when it is started.
 *
 * As with cairo (render/backends/cairolib.h) the library is opened by name, so that flame starts
 * without it and runs where there is none; only its header is needed to build. Not thread-safe.
 */
#ifndef FLAME_RENDER_VIEW_CURSESLIB_H
#define FLAME_RENDER_VIEW_CURSESLIB_H

#define NCURSES_WIDECHAR 1
#define NCURSES_NOMACROS 1
#include <curses.h>
#include <term.h>

/* term.h defines these as macros for terminfo's capabilities; flame uses the words as names. */
#undef columns
#undef lines
#undef buttons
#undef tab

#define CURSESLIB_FUNCTIONS(X)                                                                     \
    X(cbreak)                                                                                      \
    X(clearok)                                                                                     \
    X(curs_set)                                                                                    \
    X(def_prog_mode)                                                                               \
    X(delscreen)                                                                                   \
    X(doupdate)                                                                                    \
    X(endwin)                                                                                      \
    X(getmaxx)                                                                                     \
    X(getmaxy)                                                                                     \
    X(getmouse)                                                                                    \
    X(init_pair)                                                                                   \
    X(keypad)                                                                                      \
    X(mouseinterval)                                                                               \
    X(mousemask)                                                                                   \
    X(mvwadd_wch)                                                                                  \
    X(newterm)                                                                                     \
    X(nodelay)                                                                                     \
    X(noecho)                                                                                      \
    X(nonl)                                                                                        \
    X(set_escdelay)                                                                                \
    X(setcchar)                                                                                    \
    X(setupterm)                                                                                   \
    X(start_color)                                                                                 \
    X(tigetnum)                                                                                    \
    X(tigetstr)                                                                                    \
    X(use_default_colors)                                                                          \
    X(werase)                                                                                      \
    X(wget_wch)                                                                                    \
    X(wnoutrefresh)                                                                                \
    X(wrefresh)

struct curseslib {
#define FIELD(name) __typeof__(&(name)) name;
    CURSESLIB_FUNCTIONS(FIELD)
#undef FIELD
    WINDOW **screen; /* its stdscr */
};

/* NULL where the library is not there; otherwise for the rest of the run. */
const struct curseslib *curseslib_open(void);

#endif
