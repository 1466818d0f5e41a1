/*
 * packed.h: many numbers as a short piece of text that any JSON holds.
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
#ifndef FLAME_RENDER_BACKENDS_PACKED_H
#define FLAME_RENDER_BACKENDS_PACKED_H

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
void packed_end(struct packed *p);

#endif
