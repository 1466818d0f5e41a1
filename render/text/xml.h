/*
 * xml.h: any bytes as XML text or attribute value, so that no name can become
 * markup. Pure, thread-safe.
 */
#ifndef FLAME_RENDER_TEXT_XML_H
#define FLAME_RENDER_TEXT_XML_H

#include <stdbool.h>

#include "common/strbuf.h"

/* False for code points that must not reach a page, see below. */
bool xml_allows(uint32_t cp);

/*
 * Appends s with &, <, >, " and ' escaped. Control characters, bytes that are no UTF-8 and code
 * points XML forbids become U+FFFD, as do characters that change the direction of the text
 * around them. After max_chars characters (0: no limit) the rest is cut and replaced by "…".
 */
void xml_add(struct strbuf *sb, const char *s, size_t len, size_t max_chars);

#endif
