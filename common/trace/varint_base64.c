#include "common/trace/varint_base64.h"

static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

void varint_begin(struct varint_writer *p, struct strbuf *sb)
{
    *p = (struct varint_writer){.sb = sb};
}

void varint_add_byte(struct varint_writer *p, unsigned char c)
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

void varint_add(struct varint_writer *p, uint64_t v)
{
    for (; v >= 128; v >>= 7)
        varint_add_byte(p, (unsigned char)(v | 128));
    varint_add_byte(p, (unsigned char)v);
}

void varint_add_signed(struct varint_writer *p, int64_t v)
{
    varint_add(p, (uint64_t)v << 1 ^ (v < 0 ? UINT64_MAX : 0));
}

void varint_end(struct varint_writer *p)
{
    if (p->waiting) {
        uint32_t bits = p->bits << (p->waiting == 1 ? 16 : 8);
        char text[4] = {digits[bits >> 18 & 63], digits[bits >> 12 & 63], '=', '='};

        if (p->waiting == 2)
            text[2] = digits[bits >> 6 & 63];
        strbuf_add(p->sb, text, sizeof text);
    }
    *p = (struct varint_writer){.sb = p->sb};
}

/* ---- reading ---- */

void varint_read(struct varint_reader *r, const char *s, size_t len)
{
    while (len && s[len - 1] == '=')
        len--;
    *r = (struct varint_reader){.at = s, .end = s + len};
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
static bool more_bytes(struct varint_reader *r)
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

static bool take_byte(struct varint_reader *r, unsigned *c)
{
    if (!r->waiting && !more_bytes(r))
        return false;
    *c = r->bits >> 16 & 255;
    r->bits <<= 8;
    r->waiting--;
    return true;
}

bool varint_take(struct varint_reader *r, uint64_t *v)
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

bool varint_take_signed(struct varint_reader *r, int64_t *v)
{
    uint64_t folded;
    bool taken = varint_take(r, &folded);

    *v = (int64_t)(folded >> 1 ^ (0 - (folded & 1)));
    return taken;
}
