/*
 * openpage.h: a file that was just written, shown by the browser of the desktop.
 *
 * The browser is the first of these that is there: the commands in BROWSER (separated by colons;
 * "%s" is where the address goes, else it goes behind; "%%" and "%c" are '%' and ':'), xdg-open,
 * sensible-browser. The last two are asked only where there is a desktop: DISPLAY or
 * WAYLAND_DISPLAY is set, and no SSH_CONNECTION, at whose other end the desktop would be. BROWSER
 * is taken at its word anywhere.
 *
 * It is given the file's address, "file:///...", with all that is special in addresses written as
 * %XX, so that a name may hold '#', '?', blanks or a newline.
 */
#ifndef FLAME_COMMON_ENV_OPENPAGE_H
#define FLAME_COMMON_ENV_OPENPAGE_H

#include "common/strbuf.h"

/*
 * Starts it and returns at once, whatever becomes of it. It has a session of its own, /dev/null as
 * its standard streams, no other descriptor of ours, no signal blocked or ignored, and an
 * environment without recorders: it is never recorded, and holds nobody's pipe open. Where there
 * is none, one line on standard error says why and gives the address. Forks: call it when no
 * other thread of this process waits for children.
 */
void openpage(const char *path);

/* Appends the address of a file by its absolute path. */
void openpage_add_address(struct strbuf *sb, const char *path);

/*
 * Appends the words of one command of BROWSER, `len` bytes long, with the address in its place,
 * each with a NUL behind it; their number. No shell sees them: quotes are letters.
 */
size_t openpage_add_words(struct strbuf *sb, const char *command, size_t len, const char *address);

#endif
