/*
 * openpage.h: opens a file that was just written in the desktop's browser.
 *
 * The browser is the first program found among the commands in BROWSER, xdg-open and
 * sensible-browser. BROWSER separates commands by colons; "%s" is the place of the address, which
 * otherwise comes last; "%%" and "%c" are '%' and ':'. The last two programs are tried only on a
 * desktop: DISPLAY or WAYLAND_DISPLAY is set, and SSH_CONNECTION is not, as the desktop would be at
 * its other end. BROWSER is used anywhere.
 *
 * The browser gets the file's address, "file:///...", with all special characters written as %XX,
 * so that a name may hold '#', '?', blanks or a newline.
 */
#ifndef FLAME_COMMON_ENV_OPENPAGE_H
#define FLAME_COMMON_ENV_OPENPAGE_H

#include "common/strbuf.h"

/*
 * Starts the browser and returns at once, whether it succeeds or not. The browser has a session of
 * its own, /dev/null as its standard streams, no other descriptor of ours, no signal blocked or
 * ignored, and an environment without recorders: it is never recorded, and holds no pipe open.
 * Without a browser, one line on standard error gives the reason and the address. Forks: call it
 * when no other thread of this process waits for children.
 */
void openpage(const char *path);

/* Appends the address of a file by its absolute path. */
void openpage_add_address(struct strbuf *sb, const char *path);

/*
 * Appends the words of one command of BROWSER, `len` bytes long, with the address in its place,
 * each followed by a NUL; returns their number. No shell reads them: quotes are ordinary
 * characters.
 */
size_t openpage_add_words(struct strbuf *sb, const char *command, size_t len, const char *address);

#endif
