/*
 * The sampler against its theory, over many seeds: for blocks of size n and period
 * P, p = 1 - exp(-n/P); a block's estimate has mean n and variance n^2 (1-p)/p.
 * All limits are five standard errors of the statistic at hand, and the seeds are
 * fixed, so the test gives the same result every time.
 */
#include <math.h>

#include "preload/sidetables/sampler.h"
#include "tests/tap.h"

#define SEEDS 400
#define BLOCKS 3000

/* A program's mix: many small, some middling, a few large. */
static uint64_t size_of(int i)
{
    return i % 97 == 0 ? 300000 : i % 11 == 0 ? 5000 : 16 + (uint64_t)(i * 37 % 480);
}

static void estimator(uint64_t period)
{
    double true_bytes = 0, variance = 0, calls_variance = 0, sum = 0, sum2 = 0, calls = 0;
    double mean, spread;

    for (int i = 0; i < BLOCKS; i++) {
        double n = (double)size_of(i), p = -expm1(-n / (double)period);

        true_bytes += n;
        variance += n * n * (1 - p) / p;
        calls_variance += (1 - p) / p;
    }
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        struct sampler s;
        double bytes = 0;

        sampler_init(&s, period, seed);
        for (int i = 0; i < BLOCKS; i++)
            if (sampler_take(&s, period, size_of(i))) {
                struct weight w = sampler_weight(period, size_of(i), (uintptr_t)(i * 32) ^ seed);

                bytes += (double)w.bytes;
                calls += (double)w.calls;
            }
        sum += bytes;
        sum2 += bytes * bytes;
    }
    mean = sum / SEEDS;
    spread = sqrt(sum2 / SEEDS - mean * mean);
    ok(fabs(mean - true_bytes) < 5 * sqrt(variance / SEEDS),
       "period %llu: bytes are unbiased (%.0f of %.0f, allowed %.0f)", (unsigned long long)period,
       mean, true_bytes, 5 * sqrt(variance / SEEDS));
    ok(fabs(calls / SEEDS - BLOCKS) < 5 * sqrt((calls_variance + BLOCKS * 0.25) / SEEDS),
       "period %llu: calls are unbiased (%.1f of %d)", (unsigned long long)period, calls / SEEDS,
       BLOCKS);
    /* The standard error of a standard deviation is s/sqrt(2(N-1)), more with heavy
     * tails; a fifth more than five of them. */
    ok(fabs(spread / sqrt(variance) - 1) < 6 / sqrt(2.0 * (SEEDS - 1)),
       "period %llu: the spread is that of theory (%.3f of it)", (unsigned long long)period,
       spread / sqrt(variance));
}

static void one_size(uint64_t size, uint64_t period)
{
    struct sampler s;
    double p = -expm1(-(double)size / (double)period), hits = 0;
    const int tries = 200000;

    sampler_init(&s, period, size);
    for (int i = 0; i < tries; i++)
        hits += sampler_take(&s, period, size);
    ok(fabs(hits / tries - p) < 5 * sqrt(p * (1 - p) / tries) + 1e-12,
       "%llu bytes at %llu: recorded as often as expected (%.5f, theory %.5f)",
       (unsigned long long)size, (unsigned long long)period, hits / tries, p);
}

int main(void)
{
    struct weight w;
    double sum = 0;

    estimator(1000);
    estimator(16384);
    estimator(524288);
    one_size(16, 512);
    one_size(512, 512);
    one_size(5000, 512);
    one_size(100, 524288);

    w = sampler_weight(512, 1 << 20, 16);
    ok(w.bytes == 1 << 20 && w.calls == 1, "a block far above the period counts as itself");
    w = sampler_weight(524288, 0, 16);
    ok(w.bytes == 0 && w.calls > 500000, "blocks of 0 bytes are counted without bytes");
    for (uintptr_t a = 0; a < 100000; a++)
        sum += (double)sampler_weight(512, 512, a * 16).calls;
    ok(fabs(sum / 100000 - 1 / -expm1(-1.0)) < 5 * 0.5 / sqrt(100000),
       "rounding by address is unbiased (%.4f, theory %.4f)", sum / 100000, 1 / -expm1(-1.0));
    ok(sampler_weight(512, 700, 4096).calls == sampler_weight(512, 700, 4096).calls,
       "rounding by address gives one block one weight");
    return done_testing();
}
