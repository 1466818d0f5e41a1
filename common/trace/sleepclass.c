#include "common/trace/sleepclass.h"

#include <inttypes.h>
#include <string.h>

#define UNKNOWN "[no duration known]"
#define LONGEST "[longest "
#define TO " to "

/* The unit that a duration is written in: the largest that is not larger than it. */
static const struct {
    const char *name;
    uint32_t digits; /* behind the point */
    uint64_t ns;
} units[] = {{"s", 9, 1000000000u}, {"ms", 6, 1000000u}, {"us", 3, 1000u}, {"ns", 0, 1u}};

void sleepclass_bounds(uint32_t class, uint64_t *from, uint64_t *to)
{
    uint32_t shift = class >> SLEEPCLASS_BITS, step = class & ((1u << SLEEPCLASS_BITS) - 1);

    if (!shift) {
        *from = *to = class;
        return;
    }
    *from = (uint64_t)((1u << SLEEPCLASS_BITS) + step) << (shift - 1);
    *to = *from + (((uint64_t)1 << (shift - 1)) - 1);
}

uint64_t sleepclass_middle(uint32_t class)
{
    uint64_t from, to;

    sleepclass_bounds(class, &from, &to);
    return from + (to - from) / 2;
}

/* All digits, without zeros at the end. */
static void add_duration(struct strbuf *sb, uint64_t ns)
{
    size_t u = 0;

    while (u + 1 < ARRAY_LEN(units) && ns < units[u].ns)
        u++;
    strbuf_addf(sb, "%" PRIu64, ns / units[u].ns);
    if (ns % units[u].ns) {
        strbuf_addf(sb, ".%0*" PRIu64, (int)units[u].digits, ns % units[u].ns);
        while (sb->buf[sb->len - 1] == '0')
            strbuf_setlen(sb, sb->len - 1);
    }
    strbuf_addstr(sb, units[u].name);
}

void sleepclass_add(struct strbuf *sb, uint32_t class)
{
    uint64_t from, to;

    if (class >= SLEEPCLASSES) {
        strbuf_addstr(sb, UNKNOWN);
        return;
    }
    sleepclass_bounds(class, &from, &to);
    strbuf_addch(sb, '[');
    add_duration(sb, from);
    strbuf_addstr(sb, TO);
    add_duration(sb, to);
    strbuf_addch(sb, ']');
}

void sleepclass_add_longest(struct strbuf *sb, uint64_t ns)
{
    strbuf_addstr(sb, LONGEST);
    add_duration(sb, ns);
    strbuf_addch(sb, ']');
}

/* ---- reading ---- */

static bool starts(const char *s, const char *end, const char *word)
{
    size_t len = strlen(word);

    return (size_t)(end - s) >= len && memcmp(s, word, len) == 0;
}

/* Reads the digits at *s, at most 20; returns their number. */
static uint32_t take_digits(const char **s, const char *end, uint64_t *n)
{
    uint32_t digits = 0;

    for (*n = 0; *s < end && **s >= '0' && **s <= '9' && digits < 20; digits++)
        if (__builtin_mul_overflow(*n, 10u, n) ||
            __builtin_add_overflow(*n, (uint64_t)(*(*s)++ - '0'), n))
            return 0;
    return digits;
}

/* Reads the duration at *s, which moves behind it. */
static bool take_duration(const char **s, const char *end, uint64_t *ns)
{
    uint64_t whole, part = 0;
    uint32_t digits = 0;

    if (!take_digits(s, end, &whole))
        return false;
    if (*s < end && **s == '.') {
        ++*s;
        digits = take_digits(s, end, &part);
        if (!digits)
            return false;
    }
    for (size_t u = 0; u < ARRAY_LEN(units); u++) {
        if (!starts(*s, end, units[u].name) || digits > units[u].digits)
            continue;
        for (; digits < units[u].digits; digits++)
            part *= 10;
        *s += strlen(units[u].name);
        return !__builtin_mul_overflow(whole, units[u].ns, ns) &&
               !__builtin_add_overflow(*ns, part, ns);
    }
    return false;
}

bool sleepclass_read(const char *s, size_t len, struct sleepclass_frame *out)
{
    const char *end = s + len;
    uint64_t from, to, last;

    if (len < 4 || s[0] != '[' || end[-1] != ']')
        return false;
    *out = (struct sleepclass_frame){.class = SLEEPCLASS_UNKNOWN};
    if (len == strlen(UNKNOWN) && memcmp(s, UNKNOWN, len) == 0)
        return true;
    out->longest = starts(s, end, LONGEST);
    s += out->longest ? strlen(LONGEST) : 1;
    end--;
    if (!take_duration(&s, end, &out->ns))
        return false;
    out->class = sleepclass_of(out->ns);
    if (out->longest)
        return s == end;
    sleepclass_bounds(out->class, &from, &last);
    if (!starts(s, end, TO))
        return false;
    s += strlen(TO);
    return take_duration(&s, end, &to) && s == end && from == out->ns && to == last;
}
