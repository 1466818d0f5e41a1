/* Plain forms of mangled names; see plainname.h. */
#include "fold/symbols/plainname.h"

#include "common/compiler.h"
#include "common/utf8.h"
#include "fold/symbols/demangle.h"

#define HASH_DIGITS 16
#define HASH_LEN (HASH_DIGITS + 3) /* "::h" */

/* Escapes of rustc for characters that no symbol may have. */
static const struct {
    const char *escape;
    char ch;
} escapes[] = {
    {"$SP$", '@'}, {"$BP$", '*'}, {"$RF$", '&'}, {"$LT$", '<'},
    {"$GT$", '>'}, {"$LP$", '('}, {"$RP$", ')'}, {"$C$", ','},
};

/* Whether "::h0123456789abcdef" ends the name. A hash has many different digits; a word made of
 * hex digits has few. */
static bool has_hash(struct span s)
{
    unsigned seen = 0;
    struct span hash;

    if (s.len <= HASH_LEN)
        return false;
    hash = span_from(s, s.len - HASH_LEN);
    if (!span_begins(hash, "::h"))
        return false;
    for (size_t i = 3; i < hash.len; i++) {
        char c = hash.s[i];

        if (is_digit_ch(c))
            seen |= 1u << (c - '0');
        else if (c >= 'a' && c <= 'f')
            seen |= 1u << (c - 'a' + 10);
        else
            return false;
    }
    return __builtin_popcount(seen) >= 5;
}

/*
 * A name without the suffix that LLVM adds to a function that it makes of another:
 * "f::h0123456789abcdef.llvm.123", which C++ demanglers turn into "f::h0123456789abcdef
 * (.llvm.123)".
 */
static struct span without_llvm(struct span s)
{
    size_t i = s.len, digits;

    if (i > 0 && s.s[i - 1] == ')')
        i--;
    for (digits = i; digits > 0 && is_digit_ch(s.s[digits - 1]); digits--)
        continue;
    if (digits == i || !span_ends(span_to(s, digits), ".llvm."))
        return s;
    digits -= strlen(".llvm.");
    if (i == s.len)
        return span_to(s, digits);
    return span_ends(span_to(s, digits), " (") ? span_to(s, digits - 2) : s;
}

/* Appends the character of "$u7d$". Returns the length of the escape, or 0 if there is none. */
static size_t put_character(struct strbuf *out, struct span s)
{
    uint32_t value = 0;
    char bytes[4];
    size_t i = 2;

    if (!span_begins(s, "$u"))
        return 0;
    for (; i < s.len && i < 8 && is_hex_ch(s.s[i]); i++)
        value = value * 16 +
                (uint32_t)(is_digit_ch(s.s[i]) ? s.s[i] - '0' : (s.s[i] | 0x20) - 'a' + 10);
    if (i == 2 || i >= s.len || s.s[i] != '$' || value < 0x20 || value > 0x10ffff ||
        (value >= 0xd800 && value < 0xe000))
        return 0;
    strbuf_add(out, bytes, utf8_encode(bytes, value));
    return i + 1;
}

/* Like put_character, for all escapes. */
static size_t put_escape(struct strbuf *out, struct span s)
{
    for (size_t i = 0; i < ARRAY_LEN(escapes); i++)
        if (span_begins(s, escapes[i].escape)) {
            strbuf_addch(out, escapes[i].ch);
            return strlen(escapes[i].escape);
        }
    return put_character(out, s);
}

/* A component that would begin with an escape has a '_' before it. */
static bool begins_component(struct span s, size_t i)
{
    return i == 0 || (i >= 2 && s.s[i - 1] == ':' && s.s[i - 2] == ':');
}

static void put_unescaped(struct strbuf *out, struct span s)
{
    for (size_t i = 0; i < s.len;) {
        struct span rest = span_from(s, i);
        size_t n = s.s[i] == '$' ? put_escape(out, rest) : 0;

        if (n == 0 && span_begins(rest, "_$") && begins_component(s, i))
            n = 1;
        else if (n == 0 && span_begins(rest, "..")) {
            strbuf_addstr(out, "::");
            n = 2;
        } else if (n == 0) {
            strbuf_addch(out, s.s[i]);
            n = 1;
        }
        i += n;
    }
}

static bool put_rust(struct strbuf *out, struct span s)
{
    struct span bare = without_llvm(s);
    bool hash = has_hash(bare);

    if (hash)
        s = span_to(bare, bare.len - HASH_LEN);
    if (span_chr(s, '$') != SIZE_MAX && (hash || (span_find(s, "$LT$") && span_find(s, "$GT$")))) {
        put_unescaped(out, s);
        return true;
    }
    if (hash)
        strbuf_add(out, s.s, s.len);
    return hash;
}

bool plainname(struct strbuf *out, struct span name)
{
    const size_t was = out->len;
    size_t module = span_rchr(name, '`');
    struct span s = name;

    if (module != SIZE_MAX) {
        s = span_from(name, module + 1);
        strbuf_add(out, name.s, module + 1);
    }
    if ((s.len > 2 && s.s[0] == '_' && demangle(out, s.s, s.len)) || put_rust(out, s))
        return true;
    strbuf_setlen(out, was);
    return false;
}

bool plainname_may(struct span name)
{
    size_t module;

    if (name.len > HASH_LEN && span_begins(span_from(name, name.len - HASH_LEN), "::h"))
        return true;
    if (name.len > HASH_LEN && span_find(name, ".llvm."))
        return true;
    if (name.len > 2 && name.s[0] == '_' &&
        (name.s[1] == 'Z' || name.s[1] == 'R' || name.s[1] == '_'))
        return true;
    if (span_chr(name, '$') != SIZE_MAX && span_find(name, "$LT$"))
        return true;
    module = span_chr(name, '`');
    return module != SIZE_MAX && module + 1 < name.len && name.s[name.len - 1] != '`' &&
           span_find(span_from(name, module), "`_");
}
