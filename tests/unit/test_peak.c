/*
 * Peak shares against a naive twin: it remembers every row's live bytes at the
 * first instant the total was highest. One thread, so the shares are exact.
 */
#include "preload/peak.h"
#include "tests/tap.h"
#include "tests/unit/scratch_store.h"

#define ROWS 50

static uint64_t seed = 99;

static uint64_t next(void)
{
    seed ^= seed << 13;
    seed ^= seed >> 7;
    return seed ^= seed << 17;
}

int main(void)
{
    static struct trace_row rows[ROWS];
    static struct trace_thread record;
    static struct thread_state t = {.record = &record};
    struct trace_header h = {.peak_epoch = 1};
    uint64_t live[ROWS] = {0}, calls[ROWS] = {0}, share[ROWS] = {0}, share_calls[ROWS] = {0};
    uint64_t total = 0, top = 0;
    size_t wrong = 0;

    for (int op = 0; op < 300000; op++) {
        size_t i = next() % ROWS;
        /* Long climbs and falls, so that maxima are left and passed again. */
        bool up = next() % 100 < (op / 5000 % 2 ? 40u : 60u);
        uint64_t size = next() % 1000;

        if (up) {
            peak_add(&h, &t, &rows[i], size, true);
            rows[i].alloc_bytes += size;
            rows[i].alloc_calls++;
            live[i] += size;
            calls[i]++;
            total += size;
            if (total > top) {
                top = total;
                memcpy(share, live, sizeof share);
                memcpy(share_calls, calls, sizeof share_calls);
            }
        } else if (calls[i]) {
            size = calls[i] == 1 ? live[i] : size % (live[i] + 1);
            peak_sub(&h, &t, &rows[i], size);
            rows[i].free_bytes += size;
            rows[i].free_calls++;
            live[i] -= size;
            calls[i]--;
            total -= size;
        }
        if (op % 997 && op != 299999)
            continue;
        wrong += h.peak_bytes != top || record.live_bytes != total;
        for (size_t k = 0; k < ROWS; k++) {
            bool kept = rows[k].peak_epoch == h.peak_epoch;
            uint64_t b = kept ? rows[k].peak_bytes : rows[k].alloc_bytes - rows[k].free_bytes;
            uint64_t c = kept ? rows[k].peak_calls : rows[k].alloc_calls - rows[k].free_calls;

            wrong += b != share[k] || c != share_calls[k];
        }
    }
    is_int((long long)wrong, 0, "mark and shares equal the naive twin's at every look");
    ok(h.peak_epoch > 10, "through many maxima (%u)", h.peak_epoch);
    return done_testing();
}
