#include "render/backends/packed.h"

static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

void packed_begin(struct packed *p, struct strbuf *sb)
{
    *p = (struct packed){.sb = sb};
}

static void add_byte(struct packed *p, unsigned char c)
{
    char text[4];

    p->bits = p->bits << 8 | c;
    if (++p->waiting < 3)
        return;
    for (int i = 0; i < 4; i++)
        text[i] = digits[p->bits >> (18 - 6 * i) & 63];
    strbuf_add(p->sb, text, sizeof text);
    p->bits = 0;
    p->waiting = 0;
}

void packed_add(struct packed *p, uint64_t v)
{
    for (; v >= 128; v >>= 7)
        add_byte(p, (unsigned char)(v | 128));
    add_byte(p, (unsigned char)v);
}

void packed_add_signed(struct packed *p, int64_t v)
{
    packed_add(p, (uint64_t)v << 1 ^ (v < 0 ? UINT64_MAX : 0));
}

void packed_end(struct packed *p)
{
    if (p->waiting) {
        uint32_t bits = p->bits << (p->waiting == 1 ? 16 : 8);
        char text[4] = {digits[bits >> 18 & 63], digits[bits >> 12 & 63], '=', '='};

        if (p->waiting == 2)
            text[2] = digits[bits >> 6 & 63];
        strbuf_add(p->sb, text, sizeof text);
    }
    *p = (struct packed){.sb = p->sb};
}
