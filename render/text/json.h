/*
 * json.h: any bytes as a JSON string that is also safe inside a page's <script>. Pure,
 * thread-safe.
 */
#ifndef FLAME_RENDER_TEXT_JSON_H
#define FLAME_RENDER_TEXT_JSON_H

#include "common/strbuf.h"

/*
 * Appends s in quotes. Control characters, bytes that are no UTF-8, and characters that change
 * the direction of the text around them become U+FFFD; '<', '>' and '&' are written \u00XX, so
 * that "</script>" and "<!--" cannot occur. After max_chars characters (0: no limit) the rest is
 * cut and replaced by "…".
 */
void json_add_string(struct strbuf *sb, const char *s, size_t len, size_t max_chars);

#endif
