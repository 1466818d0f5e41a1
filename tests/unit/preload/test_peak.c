/*
 * Compares peak shares with a naive twin, which remembers every row's live bytes at the first
 * instant of the highest total. One thread makes the shares exact. A second test checks the bound
 * for two threads.
 */
#include <pthread.h>

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

/* ---- two threads ---- */

/* The second thread's record; the thread itself does nothing more. */
static struct thread_state *second;
static pthread_barrier_t met;

static void *be_second(void *arg)
{
    second = threads_self();
    pthread_barrier_wait(&met);
    pthread_barrier_wait(&met);
    return arg;
}

static struct trace_header two;
static uint64_t live_now, true_peak;

static void change(struct thread_state *t, int64_t bytes)
{
    static struct trace_row row;

    if (bytes < 0) {
        peak_sub(&two, t, &row, (uint64_t)-bytes);
    } else {
        peak_add(&two, t, &row, (uint64_t)bytes, false);
        peak_check(&two, t, false);
    }
    live_now += (uint64_t)bytes;
    if (live_now > true_peak)
        true_peak = live_now;
}

static bool within_bound(void)
{
    return two.peak_bytes <= true_peak && true_peak - two.peak_bytes < 2 * PEAK_STEP;
}

/*
 * A thread that has freed and allocates again must sum up again, even if it has less than at its
 * last sum: the other thread may have allocated in between.
 */
static void bound_with_two(void)
{
    struct thread_state *first;
    pthread_t thread;
    int wrong = 0;

    two = (struct trace_header){.peak_epoch = 1};
    if (!scratch_store_open()) {
        ok(false, "a scratch trace is opened");
        return;
    }
    pthread_barrier_init(&met, NULL, 2);
    first = threads_self();
    pthread_create(&thread, NULL, be_second, NULL);
    pthread_barrier_wait(&met);
    ok(first && second && first != second, "two threads have records of their own");
    change(first, 100000);
    change(first, -60000);
    change(second, 30000);
    for (int i = 0; i < 50; i++)
        change(first, 1000);
    ok(within_bound(),
       "after a fall and a new rise the peak is at most two steps low (%llu of %llu)",
       (unsigned long long)two.peak_bytes, (unsigned long long)true_peak);
    for (int op = 0; op < 200000; op++) {
        struct thread_state *t = next() % 2 ? first : second;
        bool up = next() % 100 < (op / 3000 % 2 ? 40u : 60u);
        uint64_t size = next() % 3000;

        if (!up && size > t->record->live_bytes)
            size = t->record->live_bytes;
        change(t, up ? (int64_t)size : -(int64_t)size);
        wrong += WRONG(!within_bound(), op);
    }
    is_int(wrong, 0, "the peak is at most two steps low after each of 200,000 changes");
    pthread_barrier_wait(&met);
    pthread_join(thread, NULL);
    scratch_store_close();
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
        wrong += WRONG(h.peak_bytes != top || record.live_bytes != total, op);
        for (size_t k = 0; k < ROWS; k++) {
            bool kept = rows[k].peak_epoch == h.peak_epoch;
            uint64_t b = kept ? rows[k].peak_bytes : rows[k].alloc_bytes - rows[k].free_bytes;
            uint64_t c = kept ? rows[k].peak_calls : rows[k].alloc_calls - rows[k].free_calls;

            wrong += WRONG(b != share[k] || c != share_calls[k], k);
        }
    }
    is_int((long long)wrong, 0, "peak and shares equal those of the naive twin");
    ok(h.peak_epoch > 10, "peak and shares are compared over many maxima (%u)", h.peak_epoch);
    bound_with_two();
    return done_testing();
}
