/*
 * pagecode.h: script and style as they go into a page: without what only their readers in the
 * sources need, and known to the browser by their digests.
 */
#ifndef FLAME_RENDER_BACKENDS_PAGECODE_H
#define FLAME_RENDER_BACKENDS_PAGECODE_H

#include "common/strbuf.h"

/*
 * Appends a script or style without blanks at the beginning of lines, empty lines, and comments
 * that begin a line. What stands behind code in a line stays. It knows no strings: none may go
 * over several lines, as make lint holds of ours.
 */
void pagecode_add(struct strbuf *sb, const char *code, size_t len);

/*
 * Appends 'sha256-...', as a Content-Security-Policy names the element with exactly this text
 * (https://www.w3.org/TR/CSP3/#framework-source-lists).
 */
void pagecode_add_hash(struct strbuf *sb, const struct strbuf *text);

#endif
