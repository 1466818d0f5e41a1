/* Pace of reading rings: seldom if few calls are logged, else before any ring is full. */
#include "inproc/ring.h"
#include "tests/tap.h"
#include "tracer/inproc/pace.h"

/* Interval at which the pace settles for a thread that logs words_a_ms words a millisecond,
 * starting from ns. */
static uint64_t settles(uint64_t ns, uint64_t words_a_ms, uint32_t *fill)
{
    uint64_t before = 0, words = 0;

    for (int i = 0; i < 20; i++) {
        before = ns;
        words = ns * words_a_ms / 1000000;
        ns = pace_next(ns, words < RING_WORDS ? (uint32_t)words : RING_WORDS);
    }
    *fill = (uint32_t)words;
    return ns == before ? ns : 0;
}

int main(void)
{
    unsigned restless = 0, full = 0;
    uint32_t fill;

    is_int((long)settles(PACE_LEAST_NS, 0, &fill), PACE_MOST_NS,
           "the pace is slowest when no call is logged");
    is_int((long)settles(PACE_LEAST_NS, 100, &fill), PACE_MOST_NS,
           "the pace is slowest when few calls are logged");
    is_int((long)settles(PACE_MOST_NS, 2500, &fill), PACE_LEAST_NS,
           "the pace is fastest when many calls are logged");
    is_int((long)pace_next(PACE_MOST_NS, RING_WORDS), PACE_LEAST_NS,
           "a full ring sets the fastest pace at once");
    is_int((long)pace_next(PACE_MOST_NS, RING_WORDS / 2 + 1), PACE_LEAST_NS,
           "a ring more than half full sets the fastest pace at once");
    is_int((long)pace_next(PACE_LEAST_NS, RING_WORDS), PACE_LEAST_NS,
           "the pace does not fall below PACE_LEAST_NS");
    is_int((long)pace_next(PACE_MOST_NS, 0), PACE_MOST_NS,
           "the pace does not rise above PACE_MOST_NS");
    for (uint64_t rate = 0; rate < 5000; rate += 7)
        for (uint64_t from = PACE_LEAST_NS; from <= PACE_MOST_NS; from *= 2) {
            uint64_t ns = settles(from, rate, &fill);

            restless += !ns;
            full += fill > RING_WORDS / 4 && ns != PACE_LEAST_NS;
        }
    is_int(restless, 0, "the pace settles at every rate");
    is_int(full, 0, "a settled pace leaves each ring at most a quarter full");
    return done_testing();
}
