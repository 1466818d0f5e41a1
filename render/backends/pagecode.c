#define _GNU_SOURCE
#include "render/backends/pagecode.h"

#include "render/backends/sha256.h"

static size_t skip_blanks(const char *code, size_t at, size_t len)
{
    while (at < len && (code[at] == ' ' || code[at] == '\t' || code[at] == '\n'))
        at++;
    return at;
}

void pagecode_add(struct strbuf *sb, const char *code, size_t len)
{
    size_t at = skip_blanks(code, 0, len);

    while (at < len) {
        const char *end;

        if (at + 1 < len && code[at] == '/' && code[at + 1] == '*') {
            end = memmem(code + at + 2, len - at - 2, "*/", 2);
            at = end ? (size_t)(end + 2 - code) : len;
        } else {
            end = memchr(code + at, '\n', len - at);
            end = end ? end + 1 : code + len;
            strbuf_add(sb, code + at, (size_t)(end - code) - at);
            at = (size_t)(end - code);
        }
        at = skip_blanks(code, at, len);
    }
}

void pagecode_add_hash(struct strbuf *sb, const struct strbuf *text)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    uint8_t digest[SHA256_BYTES + 1];

    sha256(digest, text->buf, text->len);
    digest[SHA256_BYTES] = 0;
    strbuf_addstr(sb, "'sha256-");
    for (int i = 0; i < SHA256_BYTES; i += 3) {
        uint32_t v = (uint32_t)digest[i] << 16 | (uint32_t)digest[i + 1] << 8 |
                     (i + 2 < SHA256_BYTES ? digest[i + 2] : 0u);

        for (int k = 0; k < 4; k++)
            strbuf_addch(sb, digits[v >> (18 - 6 * k) & 63]);
    }
    /* 32 bytes are ten threes and two. */
    strbuf_setlen(sb, sb->len - 1);
    strbuf_addstr(sb, "='");
}
