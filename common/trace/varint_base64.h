/*
 * varint_base64.h: many numbers as a short piece of text that any JSON holds.
 *
 * A number is written seven bits a byte, the lowest first, the eighth bit saying
 * that more follow; the bytes are base64 (RFC 4648, with padding). Small numbers
 * so take 4/3 of a character each, and a script takes them apart faster than a
 * JSON parser reads digits.
 *
 *   lifecycle  varint_begin, varint_add any number of times, varint_end
 *   ownership  text goes to the caller's strbuf, which may be written out and
 *              cleared between calls
 */
#ifndef FLAME_COMMON_TRACE_VARINT_BASE64_H
#define FLAME_COMMON_TRACE_VARINT_BASE64_H

#include <stdbool.h>

#include "common/strbuf.h"

struct varint_writer {
    struct strbuf *sb;
    uint32_t bits; /* bytes that wait to be a group of three */
    int waiting;
};

void varint_begin(struct varint_writer *p, struct strbuf *sb);
void varint_add(struct varint_writer *p, uint64_t v);
/* Numbers below zero too: 0, -1, 1, -2, ... become 0, 1, 2, 3, ... */
void varint_add_signed(struct varint_writer *p, int64_t v);
/* Adds one byte of a number that is split into 7-bit groups already. */
void varint_add_byte(struct varint_writer *p, unsigned char c);
void varint_end(struct varint_writer *p);

/* Decodes such a text, which comes from outside: reads numbers that are whole and fit 64 bits, and
 * ends at the first that does not, or at a character that is not base64. */
struct varint_reader {
    const char *at, *end; /* the rest of the text */
    uint32_t bits;        /* of it, `waiting` bytes not yet returned */
    int waiting;
    bool wrong; /* the text is cut or invalid */
};

void varint_read(struct varint_reader *r, const char *s, size_t len);
/* False: there are no more; r->wrong says whether that is the end of the text. */
bool varint_take(struct varint_reader *r, uint64_t *v);
bool varint_take_signed(struct varint_reader *r, int64_t *v);

#endif
