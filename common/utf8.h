/*
 * utf8.h: decodes and validates UTF-8 in names that come from outside, and encodes it. Pure
 * functions, thread-safe.
 */
#ifndef FLAME_COMMON_UTF8_H
#define FLAME_COMMON_UTF8_H

#include "common/compiler.h"

#define UTF8_REPLACEMENT "\xef\xbf\xbd" /* U+FFFD */

/*
 * Length in bytes (1 to 4) of the well-formed sequence at s[0..len), with its
 * code point in *cp; 0 when there is none (bad lead or tail byte, overlong form,
 * surrogate, beyond U+10FFFF, cut short, or len is 0).
 */
size_t utf8_decode(const char *s, size_t len, uint32_t *cp);

/* Encodes a code point, which is U+10FFFF at most and, for text that is well-formed, no surrogate;
 * returns the number of bytes. */
size_t utf8_encode(char bytes[4], uint32_t cp);

/* C0 and C1 control characters and DEL: not allowed in a line of text. */
static inline int utf8_is_control(uint32_t cp)
{
    return cp < 0x20 || (cp >= 0x7f && cp < 0xa0);
}

#endif
