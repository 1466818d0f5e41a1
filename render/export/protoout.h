/*
 * protoout.h: fields of protocol buffers (https://protobuf.dev/programming-guides/encoding/),
 * appended to a strbuf. As proto3 has it, a number that is 0 is left out.
 */
#ifndef FLAME_RENDER_EXPORT_PROTOOUT_H
#define FLAME_RENDER_EXPORT_PROTOOUT_H

#include <stdint.h>

#include "common/strbuf.h"

/* A bare number. */
void protoout_varint(struct strbuf *sb, uint64_t v);
void protoout_number(struct strbuf *sb, unsigned field, uint64_t v);
/* Like protoout_number, but also writes 0, for fields that a reader wants to be present. */
void protoout_present(struct strbuf *sb, unsigned field, uint64_t v);
/* A number of eight bytes (fixed64), also 0. */
void protoout_fixed64(struct strbuf *sb, unsigned field, uint64_t v);
/* Begins a field of `len` bytes, which the caller adds. */
void protoout_begin(struct strbuf *sb, unsigned field, size_t len);
/* A string or a message; also one of no bytes. */
void protoout_bytes(struct strbuf *sb, unsigned field, const void *data, size_t len);
/* Adds a strbuf like protoout_bytes, and clears it. */
void protoout_message(struct strbuf *sb, unsigned field, struct strbuf *message);

#endif
