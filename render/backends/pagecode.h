/*
 * pagecode.h: script and style as they go into a page: without the parts that only readers of
 * the sources need, and with the digests by which the browser recognizes them.
 */
#ifndef FLAME_RENDER_BACKENDS_PAGECODE_H
#define FLAME_RENDER_BACKENDS_PAGECODE_H

#include "common/strbuf.h"

/*
 * Appends a script or style without blanks at the beginning of lines, empty lines, and comments
 * that begin a line. A comment behind code in a line stays. It does not recognize strings: none
 * may go over several lines, which make lint checks.
 */
void pagecode_add(struct strbuf *sb, const char *code, size_t len);

/*
 * Appends 'sha256-...', as a Content-Security-Policy names the element with exactly this text
 * (https://www.w3.org/TR/CSP3/#framework-source-lists).
 */
void pagecode_add_hash(struct strbuf *sb, const struct strbuf *text);

#endif
