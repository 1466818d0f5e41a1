#include "common/utf8.h"

size_t utf8_decode(const char *s, size_t len, uint32_t *cp)
{
    const unsigned char *p = (const unsigned char *)s;
    uint32_t c, min;
    size_t need;

    if (len == 0)
        return 0;
    if (p[0] < 0x80) {
        *cp = p[0];
        return 1;
    }
    if (p[0] >= 0xf0) {
        need = 4;
        min = 0x10000;
        c = p[0] & 0x07;
    } else if (p[0] >= 0xe0) {
        need = 3;
        min = 0x800;
        c = p[0] & 0x0f;
    } else {
        need = 2;
        min = 0x80;
        c = p[0] & 0x1f;
    }
    if (p[0] < 0xc2 || p[0] > 0xf4 || len < need)
        return 0;
    for (size_t i = 1; i < need; i++) {
        if ((p[i] & 0xc0) != 0x80)
            return 0;
        c = c << 6 | (p[i] & 0x3f);
    }
    if (c < min || c > 0x10ffff || (c >= 0xd800 && c <= 0xdfff))
        return 0;
    *cp = c;
    return need;
}

size_t utf8_encode(char bytes[4], uint32_t cp)
{
    static const unsigned char lead[] = {0, 0, 0xc0, 0xe0, 0xf0};
    size_t n = cp < 0x80 ? 1 : cp < 0x800 ? 2 : cp < 0x10000 ? 3 : 4;

    for (size_t i = n; i > 1; i--, cp >>= 6)
        bytes[i - 1] = (char)(0x80 | (cp & 0x3f));
    bytes[0] = (char)(lead[n] | cp);
    return n;
}
