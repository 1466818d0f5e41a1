#include "common/trace/varint_base64.h"

static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

void packed_begin(struct packed *p, struct strbuf *sb)
{
    *p = (struct packed){.sb = sb};
}

void packed_add_byte(struct packed *p, unsigned char c)
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
        packed_add_byte(p, (unsigned char)(v | 128));
    packed_add_byte(p, (unsigned char)v);
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

/* ---- reading ---- */

void packed_read(struct packed_reader *r, const char *s, size_t len)
{
    while (len && s[len - 1] == '=')
        len--;
    *r = (struct packed_reader){.at = s, .end = s + len};
}

static int value_of(char c)
{
    return c >= 'A' && c <= 'Z'   ? c - 'A'
           : c >= 'a' && c <= 'z' ? c - 'a' + 26
           : c >= '0' && c <= '9' ? c - '0' + 52
           : c == '+'             ? 62
           : c == '/'             ? 63
                                  : -1;
}

/* Up to three bytes of the next four characters. */
static bool more_bytes(struct packed_reader *r)
{
    int n = 0;

    r->bits = 0;
    for (; n < 4 && r->at < r->end; n++) {
        int v = value_of(*r->at++);

        if (v < 0) {
            r->wrong = true;
            return false;
        }
        r->bits |= (uint32_t)v << (18 - 6 * n);
    }
    r->wrong |= n == 1;
    r->waiting = n ? n - 1 : 0;
    return r->waiting > 0;
}

static bool take_byte(struct packed_reader *r, unsigned *c)
{
    if (!r->waiting && !more_bytes(r))
        return false;
    *c = r->bits >> 16 & 255;
    r->bits <<= 8;
    r->waiting--;
    return true;
}

bool packed_take(struct packed_reader *r, uint64_t *v)
{
    unsigned c, shift = 0;

    *v = 0;
    while (!r->wrong && take_byte(r, &c)) {
        uint64_t digit = c & 127;

        if (shift > 63 || digit << shift >> shift != digit)
            break;
        *v |= digit << shift;
        if (!(c & 128))
            return true;
        shift += 7;
    }
    r->wrong |= shift > 0 || r->waiting > 0 || r->at < r->end;
    return false;
}

bool packed_take_signed(struct packed_reader *r, int64_t *v)
{
    uint64_t folded;
    bool taken = packed_take(r, &folded);

    *v = (int64_t)(folded >> 1 ^ (0 - (folded & 1)));
    return taken;
}
