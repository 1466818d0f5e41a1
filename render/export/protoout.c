#include "render/export/protoout.h"

enum { WIRE_VARINT = 0, WIRE_FIXED64 = 1, WIRE_BYTES = 2 };

void protoout_varint(struct strbuf *sb, uint64_t v)
{
    for (; v >= 0x80; v >>= 7)
        strbuf_addch(sb, (char)(v | 0x80));
    strbuf_addch(sb, (char)v);
}

void protoout_number(struct strbuf *sb, unsigned field, uint64_t v)
{
    if (v)
        protoout_present(sb, field, v);
}

void protoout_present(struct strbuf *sb, unsigned field, uint64_t v)
{
    protoout_varint(sb, field << 3 | WIRE_VARINT);
    protoout_varint(sb, v);
}

void protoout_fixed64(struct strbuf *sb, unsigned field, uint64_t v)
{
    protoout_varint(sb, field << 3 | WIRE_FIXED64);
    for (int i = 0; i < 64; i += 8)
        strbuf_addch(sb, (char)(v >> i));
}

void protoout_begin(struct strbuf *sb, unsigned field, size_t len)
{
    protoout_varint(sb, field << 3 | WIRE_BYTES);
    protoout_varint(sb, len);
}

void protoout_bytes(struct strbuf *sb, unsigned field, const void *data, size_t len)
{
    protoout_begin(sb, field, len);
    strbuf_add(sb, data, len);
}

void protoout_message(struct strbuf *sb, unsigned field, struct strbuf *message)
{
    protoout_bytes(sb, field, message->buf, message->len);
    strbuf_clear(message);
}
