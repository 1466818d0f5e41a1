/*
 * varint_base64.h: many numbers as a short piece of text that any JSON holds.
 *
 * A number is written seven bits a byte, the lowest first, the eighth bit saying
 * that more follow; the bytes are base64 (RFC 4648, with padding). Small numbers
 * so take 4/3 of a character each, and a script takes them apart faster than a
 * JSON parser reads digits.
 *
 *   lifecycle  packed_begin, packed_add any number of times, packed_end
 *   ownership  text goes to the caller's strbuf, which may be written out and
 *              cleared between calls
 */
#ifndef FLAME_COMMON_TRACE_VARINT_BASE64_H
#define FLAME_COMMON_TRACE_VARINT_BASE64_H

#include <stdbool.h>

#include "common/strbuf.h"

struct packed {
    struct strbuf *sb;
    uint32_t bits; /* bytes that wait to be a group of three */
    int waiting;
};

void packed_begin(struct packed *p, struct strbuf *sb);
void packed_add(struct packed *p, uint64_t v);
/* Numbers below zero too: 0, -1, 1, -2, ... become 0, 1, 2, 3, ... */
void packed_add_signed(struct packed *p, int64_t v);
/* A byte of a number that is cut into sevens of bits already. */
void packed_add_byte(struct packed *p, unsigned char c);
void packed_end(struct packed *p);

/* Takes such a text apart, which is anybody's: numbers that are whole and fit 64 bits are taken,
 * and behind the first that does not, or a character that is none of base64's, there is no more. */
struct packed_reader {
    const char *at, *end; /* the text that is left */
    uint32_t bits;        /* of it, `waiting` bytes not yet taken */
    int waiting;
    bool wrong; /* the text is not whole, or no such text */
};

void packed_read(struct packed_reader *r, const char *s, size_t len);
/* False: there are no more; r->wrong says whether that is the end of the text. */
bool packed_take(struct packed_reader *r, uint64_t *v);
bool packed_take_signed(struct packed_reader *r, int64_t *v);

#endif
