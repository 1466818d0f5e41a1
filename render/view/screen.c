/*
 * Problem: a terminal that is left in another mode is of no use, and a signal may come at any
 * time.
 *
 * Algorithm: SIGINT, SIGTERM and SIGHUP are blocked except while the process waits for a key, so
 * that none comes unseen; they end the wait. Signals of a crash write the bytes that restore the
 * terminal, which were read at the beginning, and set the modes that it had: both are allowed in
 * a handler. Ctrl-Z is read as a key: if the terminal handled it, all processes in the
 * foreground would stop at once, and a shell whose child is not this process but its parent (a
 * script) would have the terminal back before it is restored. For a SIGTSTP that is sent,
 * ncurses' own handler runs.
 *
 * Rejected: notcurses, which is not as widely installed and brings a dozen libraries; termbox2
 * and escape sequences of flame's own, which support only the terminals that their authors know.
 */
#define _GNU_SOURCE
#include "render/view/screen.h"

#include <errno.h>
#include <fcntl.h>
#include <langinfo.h>
#include <locale.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <termios.h>
#include <unistd.h>

#include "common/error.h"
#include "render/view/curseslib.h"
#include "render/view/viewkeys.h"

static const int ending[] = {SIGINT, SIGTERM, SIGHUP};
static const int crashing[] = {SIGABRT, SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGQUIT, SIGSYS, SIGTRAP};

static const struct curseslib *lib;
static bool ascii;

static struct {
    SCREEN *screen;
    FILE *in, *out;
    int tty;
    struct termios modes;
    cc_t suspend;      /* the key, of those modes */
    char restore[256]; /* bytes that restore the terminal */
    size_t restore_len;
    int said, reported; /* standard error's file meanwhile, and the one before */
    int colors;         /* 0: none, 8 or 256 */
    bool paired[256];
    sigset_t waiting; /* the mask while it waits */
    struct sigaction before[ARRAY_LEN(ending)], crashed[ARRAY_LEN(crashing)];
    bool resized;
} now = {.tty = -1, .said = -1, .reported = -1};

static volatile sig_atomic_t ended_by;

/* ---- availability ---- */

static int open_input(void)
{
    if (isatty(STDIN_FILENO))
        return fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3);
    return open("/dev/tty", O_RDWR | O_CLOEXEC | O_NOCTTY);
}

static int check_terminal(const char *command)
{
    const char *term = getenv("TERM"), *cup;
    int known = 0;

    if (lib->setupterm(NULL, STDOUT_FILENO, &known) == ERR)
        return flame_error(FLAME_USAGE,
                           "%s: TERM=%s is no terminal that is known here; set TERM, or see the "
                           "symbols as text with 'flame top'",
                           command, term ? term : "");
    cup = lib->tigetstr("cup");
    if (!cup || cup == (char *)-1)
        return flame_error(FLAME_USAGE,
                           "%s: a terminal of TERM=%s cannot show a full screen; see the symbols "
                           "as text with 'flame top'",
                           command, term ? term : "");
    return 0;
}

int screen_check(const char *command)
{
    int tty;

    if (!isatty(STDOUT_FILENO))
        return flame_error(FLAME_USAGE,
                           "%s: standard output is no terminal; 'flame top' lists the symbols as "
                           "text, 'flame render' draws a picture",
                           command);
    tty = open_input();
    if (tty < 0)
        return flame_error(FLAME_USAGE,
                           "%s: there is no terminal to read keys from; 'flame top' lists the "
                           "symbols as text",
                           command);
    close(tty);
    lib = curseslib_open();
    if (!lib)
        return flame_error(FLAME_USAGE,
                           "%s: this needs the library libncursesw; install libncursesw6, or see "
                           "the symbols as text with 'flame top'",
                           command);
    setlocale(LC_CTYPE, "");
    ascii = strcmp(nl_langinfo(CODESET), "UTF-8") != 0;
    return check_terminal(command);
}

bool screen_is_ascii(void)
{
    return ascii;
}

/* ---- standard error ---- */

static void write_whole(int fd, const char *s, size_t len)
{
    while (len) {
        ssize_t n = write(fd, s, len);

        if (n <= 0)
            return;
        s += n;
        len -= (size_t)n;
    }
}

static void keep_errors(void)
{
    now.said = memfd_create("said", MFD_CLOEXEC);
    now.reported = now.said < 0 ? -1 : fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 3);
    if (now.reported >= 0)
        dup2(now.said, STDERR_FILENO);
}

/* Prints the messages that were held back; also called in a handler of a crash. */
static void print_errors(void)
{
    char buf[1024];
    off_t at = 0;
    ssize_t n;

    if (now.reported < 0)
        return;
    dup2(now.reported, STDERR_FILENO);
    while ((n = pread(now.said, buf, sizeof buf, at)) > 0) {
        write_whole(STDERR_FILENO, buf, (size_t)n);
        at += n;
    }
    close(now.reported);
    now.reported = -1;
}

/* ---- restoring ---- */

static void note(const char *s)
{
    /* Padding, "$<5>", is for terminals of long ago. */
    for (bool padding = false; s && s != (char *)-1 && *s; s++) {
        padding |= s[0] == '$' && s[1] == '<';
        if (!padding && now.restore_len < sizeof now.restore)
            now.restore[now.restore_len++] = *s;
        padding &= *s != '>';
    }
}

static void note_restoring(void)
{
    static const char *const names[] = {"rmacs", "sgr0", "op", "rmkx", "cnorm", "rmcup"};
    const char *mouse = lib->tigetstr("kmous");

    now.restore_len = 0;
    if (mouse && mouse != (char *)-1)
        note("\x1b[?1006l\x1b[?1000l");
    for (size_t i = 0; i < ARRAY_LEN(names); i++)
        note(lib->tigetstr(names[i]));
}

/* Restores the terminal with functions that a signal handler may call. */
static void restore_at_once(void)
{
    write_whole(STDOUT_FILENO, now.restore, now.restore_len);
    tcsetattr(now.tty, TCSADRAIN, &now.modes);
    print_errors();
}

static void crash(int sig)
{
    restore_at_once();
    signal(sig, SIG_DFL);
    raise(sig);
}

static void end_by(int sig)
{
    ended_by = sig;
}

static void take_signals(void)
{
    struct sigaction end = {.sa_handler = end_by},
                     /* Once, and so that further signals of its own are not blocked. */
        down = {.sa_handler = crash, .sa_flags = (int)SA_RESETHAND | SA_NODEFER};
    sigset_t set;

    sigemptyset(&set);
    for (size_t i = 0; i < ARRAY_LEN(ending); i++) {
        sigaction(ending[i], &end, &now.before[i]);
        sigaddset(&set, ending[i]);
    }
    for (size_t i = 0; i < ARRAY_LEN(crashing); i++)
        sigaction(crashing[i], &down, &now.crashed[i]);
    sigprocmask(SIG_BLOCK, &set, &now.waiting);
    for (size_t i = 0; i < ARRAY_LEN(ending); i++)
        sigdelset(&now.waiting, ending[i]);
}

static void give_signals_back(void)
{
    for (size_t i = 0; i < ARRAY_LEN(ending); i++)
        sigaction(ending[i], &now.before[i], NULL);
    for (size_t i = 0; i < ARRAY_LEN(crashing); i++)
        sigaction(crashing[i], &now.crashed[i], NULL);
    sigprocmask(SIG_SETMASK, &now.waiting, NULL);
}

/* ---- suspending ---- */

/* Makes Ctrl-Z come as a key. ncurses keeps these modes and sets them again after a suspension. */
static void read_suspend_as_key(void)
{
    struct termios modes;

    if (tcgetattr(now.tty, &modes) != 0)
        return;
    now.suspend = modes.c_cc[VSUSP];
    modes.c_cc[VSUSP] = _POSIX_VDISABLE;
    if (tcsetattr(now.tty, TCSADRAIN, &modes) == 0)
        lib->def_prog_mode();
}

/* Restores the terminal, then stops all processes in the foreground, like the terminal itself. */
static void suspend(void)
{
    struct sigaction before, stop = {.sa_handler = SIG_DFL};

    lib->endwin();
    sigaction(SIGTSTP, &stop, &before);
    kill(0, SIGTSTP);
    sigaction(SIGTSTP, &before, NULL);
    lib->wrefresh(*lib->screen);
}

/* ---- beginning and ending ---- */

static void begin_colors(void)
{
    const char *no_color = getenv("NO_COLOR");
    int colors = lib->tigetnum("colors"), pairs = lib->tigetnum("pairs");

    now.colors = 0;
    memset(now.paired, 0, sizeof now.paired);
    if ((no_color && *no_color) || colors < 8 || lib->start_color() == ERR)
        return;
    lib->use_default_colors();
    now.colors = colors >= 256 && pairs > 240 ? 256 : 8;
}

static void end_at_exit(void)
{
    screen_end();
}

static int give_up(const char *command)
{
    if (now.in)
        fclose(now.in);
    else if (now.tty >= 0)
        close(now.tty);
    if (now.out)
        fclose(now.out);
    now.in = now.out = NULL;
    now.tty = -1;
    return flame_error(FLAME_USAGE,
                       "%s: the terminal cannot be taken over; see the symbols as text with 'flame "
                       "top'",
                       command);
}

int screen_begin(const char *command)
{
    static bool registered;
    int out = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);

    now.tty = open_input();
    now.in = now.tty < 0 ? NULL : fdopen(now.tty, "r");
    now.out = out < 0 ? NULL : fdopen(out, "w");
    if (!now.in || !now.out || tcgetattr(now.tty, &now.modes) != 0)
        return give_up(command);
    now.screen = lib->newterm(NULL, now.out, now.in);
    if (!now.screen)
        return give_up(command);
    if (!registered)
        registered = atexit(end_at_exit) == 0;
    note_restoring();
    take_signals();
    keep_errors();
    lib->cbreak();
    lib->noecho();
    lib->nonl();
    lib->keypad(*lib->screen, TRUE);
    lib->nodelay(*lib->screen, TRUE);
    lib->set_escdelay(50);
    lib->curs_set(0);
    begin_colors();
    lib->mouseinterval(0);
    read_suspend_as_key();
    lib->mousemask(BUTTON1_PRESSED | BUTTON4_PRESSED | BUTTON5_PRESSED, NULL);
    return 0;
}

void screen_end(void)
{
    if (!now.screen)
        return;
    lib->mousemask(0, NULL);
    lib->endwin();
    lib->delscreen(now.screen);
    now.screen = NULL;
    tcsetattr(now.tty, TCSADRAIN, &now.modes);
    fclose(now.in);
    fclose(now.out);
    now.in = now.out = NULL;
    now.tty = -1;
    give_signals_back();
    print_errors();
    if (now.said >= 0)
        close(now.said);
    now.said = -1;
}

void screen_die_of(int sig)
{
    if (sig) {
        signal(sig, SIG_DFL);
        raise(sig);
    }
}

void screen_size(int *width, int *height)
{
    *width = lib->getmaxx(*lib->screen);
    *height = lib->getmaxy(*lib->screen);
}

/* ---- showing ---- */

/* The nearest of the 6 by 6 by 6 colours that a terminal with 256 of them has. */
static int in_cube(int v)
{
    return v < 48 ? 0 : v < 115 ? 1 : (v - 35) / 40;
}

static int color_of(struct rgb c)
{
    int most = c.r > c.g ? c.r : c.g;

    if (now.colors == 256)
        return 16 + 36 * in_cube(c.r) + 6 * in_cube(c.g) + in_cube(c.b);
    most = most > c.b ? most : c.b;
    return (c.r * 10 > most * 6) | (c.g * 10 > most * 6) << 1 | (c.b * 10 > most * 6) << 2;
}

static short pair_of(struct rgb c)
{
    int color = color_of(c), first = now.colors == 256 ? 16 : 0;
    bool dark = c.r * 299 + c.g * 587 + c.b * 114 < 110 * 1000;
    short pair = (short)(color - first + 1);

    if (!now.paired[pair]) {
        lib->init_pair(pair,
                       (short)(now.colors == 256 ? (dark ? 231 : 16)
                               : dark            ? 7
                                                 : 0),
                       (short)color);
        now.paired[pair] = true;
    }
    return pair;
}

static void show_cell(int y, int x, const struct cell *cell)
{
    wchar_t text[2 + CELL_MARKS] = {(wchar_t)cell->cp};
    attr_t attributes = 0;
    cchar_t put;

    for (size_t i = 0; i < CELL_MARKS && cell->marks[i]; i++)
        text[i + 1] = (wchar_t)cell->marks[i];
    if (cell->look.attributes & CELL_BOLD)
        attributes |= A_BOLD;
    if (cell->look.attributes & CELL_REVERSE)
        attributes |= A_REVERSE;
    if (cell->look.attributes & CELL_UNDERLINE)
        attributes |= A_UNDERLINE;
    if (lib->setcchar(&put, text, attributes,
                      cell->look.filled && now.colors ? pair_of(cell->look.fill) : 0, NULL) == OK)
        lib->mvwadd_wch(*lib->screen, y, x, &put);
}

void screen_show(const struct cells *c)
{
    int width, height;

    screen_size(&width, &height);
    lib->werase(*lib->screen);
    for (int y = 0; y < c->height && y < height; y++)
        for (int x = 0; x < c->width && x < width; x++)
            if (cells_at(c, y, x)->cp != CELL_CONTINUED)
                show_cell(y, x, cells_at(c, y, x));
    lib->wnoutrefresh(*lib->screen);
    lib->doupdate();
}

/* ---- keys ---- */

static uint32_t key_of(wint_t key)
{
    static const struct {
        wint_t theirs;
        uint32_t ours;
    } known[] = {
        {KEY_UP, VIEW_KEY_UP},       {KEY_DOWN, VIEW_KEY_DOWN},     {KEY_LEFT, VIEW_KEY_LEFT},
        {KEY_RIGHT, VIEW_KEY_RIGHT}, {KEY_PPAGE, VIEW_KEY_PAGE_UP}, {KEY_NPAGE, VIEW_KEY_PAGE_DOWN},
        {KEY_HOME, VIEW_KEY_HOME},   {KEY_END, VIEW_KEY_END},       {KEY_F(1), VIEW_KEY_HELP},
        {KEY_ENTER, '\r'},           {KEY_BACKSPACE, 127},          {KEY_DC, 127},
        {KEY_FIND, VIEW_KEY_HOME},   {KEY_SELECT, VIEW_KEY_END},
    };

    for (size_t i = 0; i < ARRAY_LEN(known); i++)
        if (known[i].theirs == key)
            return known[i].ours;
    return VIEW_KEY_NONE;
}

static struct screen_event mouse_event(void)
{
    struct screen_event e = {.kind = SCREEN_KEY, .key = VIEW_KEY_NONE};
    MEVENT m;

    if (lib->getmouse(&m) != OK)
        return e;
    if (m.bstate & BUTTON4_PRESSED)
        e.key = VIEW_KEY_UP;
    else if (m.bstate & BUTTON5_PRESSED)
        e.key = VIEW_KEY_DOWN;
    else if (m.bstate & BUTTON1_PRESSED)
        e = (struct screen_event){.kind = SCREEN_CLICK, .y = m.y, .x = m.x};
    return e;
}

/* Reads a key. False: there is none. */
static bool read_key(struct screen_event *e)
{
    wint_t key;
    int kind = lib->wget_wch(*lib->screen, &key);

    if (kind == ERR)
        return false;
    *e = (struct screen_event){.kind = SCREEN_KEY, .key = (uint32_t)key};
    if (kind == KEY_CODE_YES && key == KEY_RESIZE)
        e->kind = SCREEN_RESIZE;
    else if (kind == KEY_CODE_YES && key == KEY_MOUSE)
        *e = mouse_event();
    else if (kind == KEY_CODE_YES)
        e->key = key_of(key);
    else if (now.suspend != _POSIX_VDISABLE && key == now.suspend) {
        suspend();
        e->kind = SCREEN_REDRAW;
    } else if (key == 12) /* Ctrl-L */
        e->kind = SCREEN_REDRAW;
    if (e->kind == SCREEN_REDRAW)
        lib->clearok(*lib->screen, TRUE);
    return true;
}

struct screen_event screen_wait(int ms, int also)
{
    struct pollfd fds[] = {{now.tty, POLLIN, 0}, {also, POLLIN, 0}};
    struct timespec t = {ms / 1000, (long)(ms % 1000) * 1000000};
    struct screen_event e = {.kind = SCREEN_NOTHING};
    int n;

    if (read_key(&e)) /* ncurses may have read on */
        return e;
    n = ppoll(fds, ARRAY_LEN(fds), ms < 0 ? NULL : &t, &now.waiting);
    if (ended_by) {
        e.kind = SCREEN_SIGNAL;
        e.signal = (int)ended_by;
        return e;
    }
    if (read_key(&e)) /* also after an EINTR, as of SIGWINCH */
        return e;
    if (n > 0 && fds[0].revents) {
        /* The descriptor is readable but empty: the terminal has gone. A key that ncurses took
           for the beginning of a longer one, and gave up, is there at the second read. */
        char byte;

        if (fds[0].revents & (POLLHUP | POLLERR | POLLNVAL) ||
            (poll(fds, 1, 0) > 0 && !read_key(&e) && read(now.tty, &byte, 1) == 0)) {
            e.kind = SCREEN_SIGNAL;
            e.signal = SIGHUP;
        }
    }
    return e;
}
