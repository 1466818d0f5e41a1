/* Numbers in decimal, exactly; see decimal.h. */
#include "fold/stacks/decimal.h"

enum { DIGITS = 36, EXPONENT = 64 };

/* Behind the 'e': false when it is no number. Exponents beyond all bounds are as good as EXPONENT.
 */
static bool parse_exponent(struct span s, int *out)
{
    bool minus = span_begins(s, "-");
    int value = 0;

    s = span_from(s, minus || span_begins(s, "+"));
    if (s.len == 0 || span_digits(s) != s.len)
        return false;
    for (size_t i = 0; i < s.len && value < EXPONENT; i++)
        value = value * 10 + (s.s[i] - '0');
    value = value < EXPONENT ? value : EXPONENT;
    *out = minus ? -value : value;
    return true;
}

/* The digits at the front of *s onto *value; how many count: those that there is no room for are 0.
 */
static bool take_digits(struct span *s, decimal *value, int *kept, int *dropped)
{
    size_t n = span_digits(*s);

    for (size_t i = 0; i < n; i++) {
        if (*kept == DIGITS) {
            if (*dropped < EXPONENT)
                ++*dropped;
            continue;
        }
        *value = *value * 10 + (s->s[i] - '0');
        *kept += *value != 0;
    }
    *s = span_from(*s, n);
    return n > 0;
}

bool decimal_parse(struct span text, decimal *out)
{
    bool minus = span_begins(text, "-");
    struct span s = span_from(text, minus);
    int kept = 0, dropped = 0, shift = 18, exponent = 0;
    decimal value = 0;

    *out = 0;
    if (!take_digits(&s, &value, &kept, &dropped))
        return false;
    shift += dropped;
    if (span_begins(s, ".")) {
        size_t before = s.len - 1, lost = (size_t)dropped;

        s = span_from(s, 1);
        if (!take_digits(&s, &value, &kept, &dropped))
            return false;
        /* Zeros in front are digits of the fraction, too; more than the exponent can say are none.
         */
        lost = (size_t)dropped - lost;
        before -= s.len + lost;
        shift -= before < 4096 ? (int)before : 4096;
    }
    if (s.len && (s.s[0] == 'e' || s.s[0] == 'E')) {
        if (!parse_exponent(span_from(s, 1), &exponent))
            return false;
        s = span_to(s, 0);
    }
    if (s.len)
        return false;
    for (shift += exponent; shift > 0 && value; shift--)
        if (__builtin_mul_overflow(value, 10, &value))
            return false;
    for (; shift < 0 && value; shift++)
        value /= 10;
    *out = minus ? -value : value;
    return true;
}

bool decimal_scale(decimal *value, int64_t by)
{
    if (by < 0)
        *value /= -by;
    return by < 0 || !__builtin_mul_overflow(*value, by, value);
}

struct stackset_count decimal_count(decimal value)
{
    decimal whole = value / (decimal)STACKSET_PART;

    if (whole >= (decimal)UINT64_MAX)
        return (struct stackset_count){UINT64_MAX, 0};
    return (struct stackset_count){(uint64_t)whole, (uint64_t)(value % (decimal)STACKSET_PART)};
}
