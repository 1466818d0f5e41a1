/*
 * json.h: any bytes as a JSON string that can also stand inside a page's
 * <script>. Pure, thread-safe.
 */
#ifndef FLAME_RENDER_TEXT_JSON_H
#define FLAME_RENDER_TEXT_JSON_H

#include "common/strbuf.h"

/*
 * Appends s in quotes. Control characters, bytes that are no UTF-8, and marks
 * that turn the direction of the text around them become U+FFFD; '<', '>' and
 * '&' are written \u00XX, so that no "</script>" or "<!--" can stand there.
 * After max_chars characters (0: no limit) the rest is cut and "…" stands for it.
 */
void json_add_string(struct strbuf *sb, const char *s, size_t len, size_t max_chars);

#endif
