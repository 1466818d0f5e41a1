/* Pace of reading rings: seldom if few calls are logged, else before any ring is full. */
#include "inproc/ring.h"
#include "tests/tap.h"
#include "tracer/inproc/pace.h"

/* The pace that it comes to for a thread that notes so many words a millisecond, from `ns`. */
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

    is_int((long)settles(PACE_LEAST_NS, 0, &fill), PACE_MOST_NS, "nothing is noted");
    is_int((long)settles(PACE_LEAST_NS, 100, &fill), PACE_MOST_NS, "a little is");
    is_int((long)settles(PACE_MOST_NS, 2500, &fill), PACE_LEAST_NS, "much is");
    is_int((long)pace_next(PACE_MOST_NS, RING_WORDS), PACE_LEAST_NS, "a ring is full: at once");
    is_int((long)pace_next(PACE_MOST_NS, RING_WORDS / 2 + 1), PACE_LEAST_NS, "or nearly");
    is_int((long)pace_next(PACE_LEAST_NS, RING_WORDS), PACE_LEAST_NS, "there is a least");
    is_int((long)pace_next(PACE_MOST_NS, 0), PACE_MOST_NS, "and a most");
    for (uint64_t rate = 0; rate < 5000; rate += 7)
        for (uint64_t from = PACE_LEAST_NS; from <= PACE_MOST_NS; from *= 2) {
            uint64_t ns = settles(from, rate, &fill);

            restless += !ns;
            full += fill > RING_WORDS / 4 && ns != PACE_LEAST_NS;
        }
    is_int(restless, 0, "at each rate it comes to rest");
    is_int(full, 0, "and no ring is more than a quarter full there");
    return done_testing();
}
