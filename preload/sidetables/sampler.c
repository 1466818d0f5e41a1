#include "common/hash.h"
#include "preload/sidetables/sampler.h"

#define LN2 0.69314718055994530942

/* xorshift64*; the state is never 0. */
static uint64_t next_random(struct sampler *s)
{
    s->random ^= s->random >> 12;
    s->random ^= s->random << 25;
    s->random ^= s->random >> 27;
    return s->random * 0x2545f4914f6cdd1du;
}

/* In (0, 1]. */
static double uniform(uint64_t bits)
{
    return (double)((bits >> 11) + 1) * 0x1p-53;
}

/* ln(x) for normal x > 0: exponent times ln 2, and 2 atanh((m - 1) / (m + 1)) for
 * the mantissa m in [sqrt(1/2), sqrt(2)); the series is good to 1e-15 there. */
static double natural_log(double x)
{
    uint64_t bits;
    int exponent;
    double m, z, z2, sum = 0;

    memcpy(&bits, &x, sizeof bits);
    exponent = (int)(bits >> 52) - 1023;
    bits = (bits & 0xfffffffffffffu) | (uint64_t)1023 << 52;
    memcpy(&m, &bits, sizeof m);
    if (m > 1.4142135623730951) {
        m *= 0.5;
        exponent++;
    }
    z = (m - 1) / (m + 1);
    z2 = z * z;
    for (int k = 19; k >= 1; k -= 2)
        sum = sum * z2 + 1.0 / k;
    return exponent * LN2 + 2 * z * sum;
}

/* 1 - exp(-x) for x >= 0, exact to the last digits also where x is tiny: the
 * Taylor series below 1/2, halving the argument above:
 * f(x) = f(x/2) (2 - f(x/2)). */
static double hit_probability(double x)
{
    int halvings = 0;
    double sum = 0;

    if (x > 50)
        return 1;
    while (x > 0.5) {
        x *= 0.5;
        halvings++;
    }
    /* x - x^2/2! + x^3/3! - ... = x (1 - x/2 (1 - x/3 (1 - ...))) */
    for (int k = 14; k >= 1; k--)
        sum = x / k * (1 - sum);
    while (halvings--)
        sum *= 2 - sum;
    return sum;
}

void sampler_init(struct sampler *s, uint64_t period, uint64_t seed)
{
    s->random = seed * HASH_GOLDEN | 1;
    for (int i = 0; i < 4; i++)
        next_random(s);
    sampler_next(s, period);
}

void sampler_next(struct sampler *s, uint64_t period)
{
    double distance = -natural_log(uniform(next_random(s))) * (double)period;

    /* Points lie between bytes' ends: a distance of d means that the block with
     * byte number ceil(d) is hit. */
    s->left = distance > 0x1p62 ? (int64_t)1 << 62 : (int64_t)distance + 1;
}

static uint64_t rounded(double x, uint64_t hash)
{
    uint64_t whole = x < 0x1p63 ? (uint64_t)x : (uint64_t)1 << 63;

    return whole + (x - (double)whole > uniform(hash));
}

struct weight sampler_weight(uint64_t period, uint64_t size, uintptr_t addr)
{
    uint64_t step = size ? size : 1;
    uint64_t hash = (addr >> 3) * HASH_GOLDEN;
    double p = hit_probability((double)step / (double)period);

    hash ^= hash >> 29;
    hash *= 0xbf58476d1ce4e5b9u;
    hash ^= hash >> 32;
    return (struct weight){.bytes = size ? rounded((double)size / p, hash) : 0,
                           .calls = rounded(1 / p, hash)};
}
