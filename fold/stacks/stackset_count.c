/* Counts of folded stacks as exact decimals: reading, adding, writing. */
#include <inttypes.h>

#include "fold/stacks/stackset.h"

void stackset_count_add(struct stackset_count *to, const struct stackset_count *c)
{
    uint64_t part = to->part + c->part, carry = part >= STACKSET_PART;

    if (__builtin_add_overflow(to->whole, c->whole, &to->whole) ||
        __builtin_add_overflow(to->whole, carry, &to->whole) || to->whole == UINT64_MAX) {
        *to = (struct stackset_count){UINT64_MAX, 0};
        return;
    }
    to->part = carry ? part - STACKSET_PART : part;
}

bool stackset_count_parse(const char *s, size_t len, struct stackset_count *out)
{
    struct stackset_count c = {0, 0};
    uint64_t unit = STACKSET_PART;
    bool over = false;
    size_t i = 0;

    for (; i < len && s[i] >= '0' && s[i] <= '9'; i++)
        over |= __builtin_mul_overflow(c.whole, 10u, &c.whole) ||
                __builtin_add_overflow(c.whole, (uint64_t)(s[i] - '0'), &c.whole);
    if (i == 0)
        return false;
    if (i < len && s[i] == '.')
        for (i++; i < len && s[i] >= '0' && s[i] <= '9'; i++) {
            unit /= 10;
            c.part += unit * (uint64_t)(s[i] - '0');
        }
    if (over || c.whole == UINT64_MAX)
        c = (struct stackset_count){UINT64_MAX, 0};
    *out = c;
    return i == len;
}

void stackset_count_text(struct strbuf *sb, const struct stackset_count *c)
{
    char digits[48];
    size_t n;

    if (!c->part) {
        char *end = digits + sizeof digits, *at = end;
        uint64_t v = c->whole;

        do
            *--at = (char)('0' + v % 10);
        while ((v /= 10) > 0);
        strbuf_add(sb, at, (size_t)(end - at));
        return;
    }
    n = (size_t)snprintf(digits, sizeof digits, "%" PRIu64 ".%018" PRIu64, c->whole, c->part);
    while (digits[n - 1] == '0')
        n--;
    strbuf_add(sb, digits, n);
}
