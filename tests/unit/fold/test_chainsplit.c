/*
 * Chains of traces made in memory: each wait is split, to the millisecond, over what the thread
 * that ended it did meanwhile.
 */
#include "fold/analysis/chainsplit.h"

#include <stdio.h>
#include <stdlib.h>

#include "common/trace/trace_reader.h"
#include "tests/tap.h"
#include "tests/unit/made_waits.h"

#define HEAD "# flame: view=chain unit=us\n"

static void folds_to(struct made *m, const char *want, const char *what)
{
    char *got = made_fold(m, "chain", NULL);

    is_str(got, want, "%s", what);
    free(got);
}

/* A shell sleeps by one child and then has an archive made by another. */
static void test_make(void)
{
    struct made m;
    uint16_t make, sh, nap, ar;

    made_begin(&m);
    make = made_thread(&m, 100, "make", 0, 1120, 0);
    sh = made_thread(&m, 101, "sh", 5, 1115, make);
    nap = made_thread(&m, 102, "sleep", 10, 1012, sh);
    ar = made_thread(&m, 103, "ar", 1020, 1100, sh);
    made_slept(&m, made_woken(&m, made_on(&m, make, "reap/wait4"), sh, "exit"), make,
               TRACE_OFF_CHILD, 5, 1115, 0);
    made_slept(&m, made_woken(&m, made_on(&m, sh, "run/wait4"), nap, "exit"), sh, TRACE_OFF_CHILD,
               10, 1012, 0);
    made_slept(&m, made_on(&m, nap, "main/nanosleep"), nap, TRACE_OFF_TIMER, 11, 1011, 0);
    made_slept(&m, made_woken(&m, made_on(&m, sh, "run/wait4"), ar, "exit"), sh, TRACE_OFF_CHILD,
               1020, 1100, 0);
    made_slept(&m, made_on(&m, ar, "main/unlink"), ar, TRACE_OFF_FILE, 1095, 1097, 0);
    folds_to(&m,
             HEAD "ar;main;unlink 2000\n"
                  "make;reap;wait4;--;exit_[w];sh_[w] 28000\n"
                  "make;reap;wait4;--;exit_[w];sh_[w];--;exit_[w];ar_[w] 78000\n"
                  "make;reap;wait4;--;exit_[w];sh_[w];--;exit_[w];ar_[w];--;unlink_[w];main_[w];"
                  "ar_[w] 2000\n"
                  "make;reap;wait4;--;exit_[w];sh_[w];--;exit_[w];sleep_[w] 2000\n"
                  "make;reap;wait4;--;exit_[w];sh_[w];--;exit_[w];sleep_[w];--;nanosleep_[w];"
                  "main_[w];sleep_[w] 1000000\n"
                  "sh;run;wait4;--;exit_[w];ar_[w] 78000\n"
                  "sh;run;wait4;--;exit_[w];ar_[w];--;unlink_[w];main_[w];ar_[w] 2000\n"
                  "sh;run;wait4;--;exit_[w];sleep_[w] 2000\n"
                  "sh;run;wait4;--;exit_[w];sleep_[w];--;nanosleep_[w];main_[w];sleep_[w] "
                  "1000000\n"
                  "sleep;main;nanosleep 1000000\n",
             "chain: a wait has each child's part, not the last sleep's of the last one");
}

/* The waker waited for a CPU and for a page, was woken late, and slept again after the wake. */
static void make_busy(struct made *m)
{
    uint16_t app, holder;
    uint32_t page;

    made_begin(m);
    app = made_thread(m, 100, "app", 0, 700, 0);
    holder = made_thread(m, 101, "holder", 0, 700, app);
    made_slept(m, made_woken(m, made_on(m, app, "take/futex"), holder, "give/futex"), app,
               TRACE_OFF_LOCK, 100, 510, 10);
    made_slept(m, made_on(m, holder, "keep/nanosleep"), holder, TRACE_OFF_TIMER, 50, 300, 20);
    made_slept(m, made_on(m, holder, "later/nanosleep"), holder, TRACE_OFF_TIMER, 499, 600, 0);
    ob_oncpu(&m->b, tb_root(&m->b, 0, holder), holder, 100 * MS, 50 * MS);
    made_note(m, TRACE_INTERVAL_SHARE, 300, 499, 100, 50);
    page = made_on(m, holder, "[page fault]");
    ob_sleep(&m->b, page, holder, TRACE_OFF_FAULT, 49 * MS, 0);
    made_note(m, TRACE_INTERVAL_SHARE, 300, 499, 49, 0);
}

static void test_busy(void)
{
    struct fold_when when = {.range = true,
                             .from = {.given = true, .asked_ns = 200 * (uint64_t)MS},
                             .to = {.given = true, .asked_ns = 300 * (uint64_t)MS}};
    struct made m;
    char *got;

    make_busy(&m);
    folds_to(&m,
             HEAD "app;take;futex;--;[run queue]_[w] 10000\n"
                  "app;take;futex;--;futex_[w];give_[w];holder_[w] 101000\n"
                  "app;take;futex;--;futex_[w];give_[w];holder_[w];--;[page fault]_[w];holder_[w] "
                  "49000\n"
                  "app;take;futex;--;futex_[w];give_[w];holder_[w];--;[run queue]_[w] 70000\n"
                  "app;take;futex;--;futex_[w];give_[w];holder_[w];--;nanosleep_[w];keep_[w];"
                  "holder_[w] 180000\n"
                  "holder;[page fault] 49000\n"
                  "holder;keep;nanosleep 230000\n"
                  "holder;keep;nanosleep;--;[run queue]_[w] 20000\n"
                  "holder;later;nanosleep 101000\n",
             "chain: running, run queues and pages of the waker have their parts");
    make_busy(&m);
    got = made_fold(&m, "chain", &when);
    is_str(got,
           "# flame: view=chain unit=us from=0.2 to=0.3\n"
           "app;take;futex;--;futex_[w];give_[w];holder_[w];--;[run queue]_[w] 20000\n"
           "app;take;futex;--;futex_[w];give_[w];holder_[w];--;nanosleep_[w];keep_[w];holder_[w] "
           "80000\n"
           "holder;keep;nanosleep 80000\n"
           "holder;keep;nanosleep;--;[run queue]_[w] 20000\n",
           "chain: a part of a wait is split over what the waker did in that part");
    free(got);
}

/* Threads that are not there all the time; waits known as sums; wakers that wake each other. */
static void test_odd(void)
{
    struct made m;
    uint16_t a, b, c;
    uint32_t node;

    made_begin(&m);
    a = made_thread(&m, 100, "a", 0, 100, 0);
    b = made_thread(&m, 101, "b", 40, 60, a);
    c = made_thread(&m, 102, "c", 0, 100, 0);
    made_slept(&m, made_woken(&m, made_on(&m, c, "join/futex"), b, "exit"), c, TRACE_OFF_LOCK, 10,
               64, 0);
    made_slept(&m, made_on(&m, a, "make/read"), a, TRACE_OFF_FILE, 5, 30, 0);
    folds_to(&m,
             HEAD "a;make;read 25000\n"
                  "c;join;futex;--;exit_[w];b_[w] 24000\n"
                  "c;join;futex;--;exit_[w];b_[w];--;a_[w] 10000\n"
                  "c;join;futex;--;exit_[w];b_[w];--;a_[w];--;read_[w];make_[w];a_[w] 20000\n",
             "chain: before a thread was there, its creator counts");

    made_begin(&m);
    a = made_thread(&m, 100, "a", 0, 100, 0);
    b = made_thread(&m, 101, "b", 40, 100, 0);
    made_slept(&m, made_woken(&m, made_on(&m, a, "f/read"), b, "g/write"), a, TRACE_OFF_LOCAL, 10,
               50, 0);
    folds_to(&m,
             HEAD "a;f;read;--;write_[w];g_[w];b_[w] 10000\n"
                  "a;f;read;--;write_[w];g_[w];b_[w];--;[earlier]_[w] 30000\n",
             "chain: without a known creator, the time before is called earlier");

    made_begin(&m);
    a = made_thread(&m, 100, "a", 0, 100, 0);
    b = made_thread(&m, 101, "b", 0, 100, a);
    made_slept(&m, made_woken(&m, made_on(&m, a, "f/read"), b, "g/write"), a, TRACE_OFF_LOCAL, 10,
               50, 0);
    made_slept(&m, made_woken(&m, made_on(&m, b, "g/read"), a, "f/write"), b, TRACE_OFF_LOCAL, 20,
               50, 0);
    folds_to(&m,
             HEAD "a;f;read;--;write_[w];g_[w];b_[w] 10000\n"
                  "a;f;read;--;write_[w];g_[w];b_[w];--;read_[w];g_[w];b_[w] 30000\n"
                  "b;g;read;--;write_[w];f_[w];a_[w];--;read_[w];f_[w];a_[w] 30000\n",
             "chain: two threads that seem to have woken each other make no circle");

    made_begin(&m);
    a = made_thread(&m, 100, "a", 0, 100, 0);
    b = made_thread(&m, 101, "b", 0, 100, a);
    made_slept(&m, made_woken(&m, made_on(&m, a, "f/read"), b, "g/write"), a, TRACE_OFF_LOCAL, 20,
               60, 0);
    ob_sleep(&m.b, made_on(&m, b, "g/poll"), b, TRACE_OFF_POLL, 30 * (uint64_t)MS, 0);
    made_note(&m, TRACE_INTERVAL_SUM, 0, 100, 30, 0);
    made_ran(&m, b, 0, 100, 70);
    node = made_woken(&m, made_on(&m, a, "f/short"), b, "g/write");
    ob_sleep(&m.b, ob_waker(&m.b, node, made_on(&m, b, "h/poll")), a, TRACE_OFF_POLL, 8 * MS, 0);
    made_note(&m, TRACE_INTERVAL_SUM, 70, 90, 8, 0);
    folds_to(&m,
             HEAD "a;f;read;--;write_[w];g_[w];b_[w] 28000\n"
                  "a;f;read;--;write_[w];g_[w];b_[w];--;poll_[w];g_[w];b_[w] 12000\n"
                  "a;f;short;--;write_[w];g_[w];b_[w];--;poll_[w];h_[w];b_[w] 8000\n"
                  "b;g;poll 30000\n",
             "chain: short waits of the waker are spread; short waits keep their noted wakers");
}

/* A waker that was asleep long before the sleeper woke; a waker of which the trace has no times. */
static void test_wrong_waker(void)
{
    struct made m;
    uint16_t a, b, old;

    made_begin(&m);
    a = made_thread(&m, 100, "a", 0, 200, 0);
    b = made_thread(&m, 101, "b", 0, 200, a);
    made_slept(&m, made_woken(&m, made_on(&m, a, "f/read"), b, "g/write"), a, TRACE_OFF_LOCAL, 10,
               100, 0);
    made_slept(&m, made_on(&m, b, "g/nap"), b, TRACE_OFF_TIMER, 30, 150, 0);
    folds_to(&m,
             HEAD "a;f;read;--;[unknown]_[w] 70000\n"
                  "a;f;read;--;write_[w];g_[w];b_[w] 20000\n"
                  "b;g;nap 120000\n",
             "chain: a waker that had been asleep for long did not end the wait then");

    made_begin(&m);
    a = made_thread(&m, 100, "a", 0, 200, 0);
    old = ob_thread(&m.b, 100, 101, "old");
    made_slept(&m, made_woken(&m, made_on(&m, a, "f/read"), old, "g/write"), a, TRACE_OFF_LOCAL, 10,
               50, 0);
    folds_to(&m, HEAD "a;f;read;--;write_[w];g_[w];old_[w];--;[earlier]_[w] 40000\n",
             "chain: a waker without times has not run all of the wait");
}

/* More different sleeps of the waker than there are links for. */
static void test_too_many(void)
{
    struct made m;
    uint16_t a, b;
    uint64_t more = 0, all = 0;
    char *text, *next, stack[32];

    made_begin(&m);
    a = made_thread(&m, 100, "a", 0, 2000, 0);
    b = made_thread(&m, 101, "b", 0, 2000, a);
    for (unsigned i = 0; i < 900; i++) {
        snprintf(stack, sizeof stack, "g%u/read", i);
        made_slept(&m, made_on(&m, b, stack), b, TRACE_OFF_FILE, 2 * i + 1, 2 * i + 2, 0);
    }
    made_slept(&m, made_woken(&m, made_on(&m, a, "f/futex"), b, "g/futex"), a, TRACE_OFF_LOCK, 0,
               1800, 0);
    text = made_fold(&m, "chain", NULL);
    for (char *line = text; line && *line; line = next) {
        char *end = strchr(line, '\n');
        uint64_t us;

        next = end ? end + 1 : NULL;
        if (end)
            *end = '\0';
        us = strrchr(line, ' ') ? strtoull(strrchr(line, ' '), NULL, 10) : 0;
        if (strncmp(line, "a;f;futex;--;", 13) == 0) {
            all += us;
            more += strstr(line, "[more wakers]") ? us : 0;
        }
    }
    is_int(all, 1800000, "chain: a wait of hundreds of parts adds up");
    ok(more > 0 && more < 600000, "chain: parts beyond the limit are together");
    free(text);
}

/* The sleeper was stopped for a part of its wait: parts are scaled to the time it was blocked. */
static void test_scaled(void)
{
    struct made m;
    uint16_t a, b;

    made_begin(&m);
    a = made_thread(&m, 100, "a", 0, 100, 0);
    b = made_thread(&m, 101, "b", 0, 100, a);
    ob_sleep(&m.b, made_woken(&m, made_on(&m, a, "f/read"), b, "g/write"), a, TRACE_OFF_LOCAL,
             20 * MS, 0);
    made_note(&m, TRACE_INTERVAL_SLEEP, 10, 50, 20, 0);
    made_slept(&m, made_on(&m, b, "g/nap"), b, TRACE_OFF_TIMER, 20, 40, 0);
    folds_to(&m,
             HEAD "a;f;read;--;write_[w];g_[w];b_[w] 10000\n"
                  "a;f;read;--;write_[w];g_[w];b_[w];--;nap_[w];g_[w];b_[w] 10000\n"
                  "b;g;nap 20000\n",
             "chain: parts add up to the time blocked");
}

/* A thread that waits while its waker has hundreds of waits, of which another thread ends each
 * third. */
static void test_many(void)
{
    struct made m;
    uint16_t idle, busy, other;
    uint32_t disk, pipe;

    made_begin(&m);
    idle = made_thread(&m, 100, "idle", 0, 2000, 0);
    busy = made_thread(&m, 101, "busy", 0, 2000, idle);
    other = made_thread(&m, 102, "other", 0, 2000, idle);
    disk = made_on(&m, busy, "get/read");
    pipe = made_woken(&m, made_on(&m, busy, "ask/read"), other, "tell/write");
    for (uint64_t at = 3; at < 1203; at += 3) {
        bool asks = at % 9 == 0;

        made_slept(&m, asks ? pipe : disk, busy, asks ? TRACE_OFF_LOCAL : TRACE_OFF_FILE, at,
                   at + 2, 0);
    }
    made_slept(&m, made_woken(&m, made_on(&m, idle, "wait/futex"), busy, "wake/futex"), idle,
               TRACE_OFF_LOCK, 10, 1100, 0);
    folds_to(&m,
             HEAD "busy;ask;read;--;write_[w];tell_[w];other_[w] 266000\n"
                  "busy;get;read 534000\n"
                  "idle;wait;futex;--;futex_[w];wake_[w];busy_[w] 363000\n"
                  "idle;wait;futex;--;futex_[w];wake_[w];busy_[w];--;read_[w];get_[w];busy_[w] "
                  "484000\n"
                  "idle;wait;futex;--;futex_[w];wake_[w];busy_[w];--;write_[w];tell_[w];other_[w] "
                  "243000\n",
             "chain: many waits of the waker add up");
}

static uint32_t state = 1;

static uint32_t pick(uint32_t n)
{
    state = state * 1664525u + 1013904223u;
    return (state >> 8) % n;
}

/* Threads that wait and wake at random: whatever the chains, all stacks add up to the waits. */
static void make_random(struct made *m, uint64_t *total_ns)
{
    uint16_t t[5];

    made_begin(m);
    *total_ns = 0;
    for (uint32_t i = 0; i < 5; i++)
        t[i] = made_thread(m, 100 + i, "t", i, 1000 - pick(50), i ? t[pick(i)] : 0);
    for (uint32_t i = 0; i < 5; i++) {
        uint64_t at = i + pick(40);

        while (at + 60 < 900) {
            uint64_t to = at + 2 + pick(50), runq = pick(3);
            uint32_t node = made_on(m, t[i], "f/wait");

            if (pick(4))
                node = made_woken(m, node, t[pick(5)], "g/wake");
            made_slept(m, node, t[i], TRACE_OFF_LOCK, at, to, runq);
            *total_ns += (to - at) * MS;
            at = to + pick(20);
        }
    }
}

static void test_random(void)
{
    unsigned wrong = 0;

    for (unsigned round = 0; round < 200; round++) {
        struct made m;
        uint64_t total, got = 0;
        char *text, *next;

        state = round + 1;
        make_random(&m, &total);
        text = made_fold(&m, "chain", NULL);
        for (char *line = text; line && *line; line = next) {
            char *end = strchr(line, '\n'), *number;

            next = end ? end + 1 : NULL;
            if (end)
                *end = '\0';
            number = strrchr(line, ' ');
            if (*line != '#' && number)
                got += strtoull(number, NULL, 10) * 1000;
        }
        wrong += got > total + 200 * 1000u || got + 200 * 1000u < total;
        free(text);
    }
    is_int(wrong, 0, "chain: random waits add up, within the rounding of each stack");
}

int main(void)
{
    test_make();
    test_busy();
    test_odd();
    test_wrong_waker();
    test_too_many();
    test_scaled();
    test_many();
    test_random();
    return done_testing();
}
