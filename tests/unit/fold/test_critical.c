/*
 * The critical path of traces made in memory: its rows to the millisecond, the possible gain
 * without an object, ranges, odd traces, and reading of the comments.
 */
#define _GNU_SOURCE
#include "fold/critical.h"
#include "common/trace/trace_reader.h"

#include <stdlib.h>

#include "fold/analysis/criticaltext.h"
#include "fold/analysis/critpath.h"
#include "fold/analysis/lastknown.h"
#include "fold/analysis/whatif.h"
#include "fold/fold.h"
#include "tests/tap.h"
#include "tests/unit/made_waits.h"

static void folds_to(struct made *m, const struct fold_when *when, const char *want,
                     const char *what)
{
    char *got = made_fold(m, "critical", when);

    is_str(got, want, "%s", what);
    free(got);
}

/* A thread holds a lock while another waits for it, and the main one waits for both. */
static void make_lock(struct made *m)
{
    uint16_t app, holder, waiter;

    made_begin(m);
    app = made_thread(m, 100, "app", 0, 705, 0);
    holder = made_thread(m, 101, "holder", 1, 500, app);
    waiter = made_thread(m, 102, "waiter", 1, 700, app);
    made_slept(m, made_on(m, holder, "hold/nanosleep"), holder, TRACE_OFF_TIMER, 2, 499, 0);
    made_slept(m, made_on(m, waiter, "wait/nanosleep"), waiter, TRACE_OFF_TIMER, 1, 100, 0);
    made_slept(m,
               made_woken(m, made_on(m, waiter, "wait/futex g_lock"), holder, "hold/futex g_lock"),
               waiter, TRACE_OFF_LOCK, 100, 500, 1);
    made_slept(m, made_on(m, waiter, "work/nanosleep"), waiter, TRACE_OFF_TIMER, 500, 699, 0);
    made_slept(m, made_woken(m, made_on(m, app, "main/futex [stack]"), holder, "exit"), app,
               TRACE_OFF_LOCK, 2, 500, 0);
    made_slept(m, made_woken(m, made_on(m, app, "main/futex [stack]"), waiter, "exit"), app,
               TRACE_OFF_LOCK, 500, 701, 0);
    made_ran(m, app, 0, 705, 6);
    made_ran(m, holder, 1, 500, 2);
    made_ran(m, waiter, 1, 700, 1);
}

static void test_lock(void)
{
    struct made m;
    struct fold_when when = {.range = true, .ends_in = "holder"};

    make_lock(&m);
    folds_to(&m, NULL,
             "# flame: view=critical unit=us\n"
             "# critical: path length=705000000 from=0 ran=7000000 waited=696000000 woken=2000000 "
             "short=0 other=0 unknown=0 threads=3 wakes=2 things=3 tried=3 name=\"app\"\n"
             "# critical: thread ns=498000000 tid=101 pid=100 name=\"holder\"\n"
             "# critical: thread ns=201000000 tid=102 pid=100 name=\"waiter\"\n"
             "# critical: thread ns=6000000 tid=100 pid=100 name=\"app\"\n"
             "# critical: free gain=699000000 waited=200000000 waits=1 kind=1 path=0 "
             "name=\"[end of a thread]\"\n"
             "# critical: free gain=696000000 waited=696000000 waits=2 kind=6 path=696000000 "
             "name=\"nanosleep\"\n"
             "# critical: free gain=400000000 waited=399000000 waits=1 kind=1 path=0 "
             "name=\"futex g_lock\"\n"
             "app;[running] 6000\n"
             "holder;[running] 1000\n"
             "holder;hold;nanosleep 497000\n"
             "waiter;[running] 2000\n"
             "waiter;work;nanosleep 199000\n",
             "critical path: a lock's holder is on it while others wait, and the wait is not");
    make_lock(&m);
    folds_to(
        &m, &when,
        "# flame: view=critical unit=us\n"
        "# critical: path length=500000000 from=0 ran=3000000 waited=497000000 woken=0 short=0 "
        "other=0 unknown=0 threads=2 wakes=0 things=1 tried=1 name=\"holder\"\n"
        "# critical: thread ns=499000000 tid=101 pid=100 name=\"holder\"\n"
        "# critical: thread ns=1000000 tid=100 pid=100 name=\"app\"\n"
        "# critical: free gain=497000000 waited=497000000 waits=1 kind=6 path=497000000 "
        "name=\"nanosleep\"\n"
        "app;[running] 1000\n"
        "holder;[running] 2000\n"
        "holder;hold;nanosleep 497000\n",
        "critical path: it ends in another thread on request");
    /* At 300 the main thread waits for the holder, and at 600 for the waiter. */
    when = (struct fold_when){.range = true,
                              .from = {.given = true, .asked_ns = 450 * (uint64_t)MS},
                              .to = {.given = true, .asked_ns = 600 * (uint64_t)MS}};
    make_lock(&m);
    folds_to(
        &m, &when,
        "# flame: view=critical unit=us from=0.45 to=0.6\n"
        "# critical: path length=150000000 from=450000000 ran=0 waited=149000000 woken=1000000 "
        "short=0 other=0 unknown=0 threads=2 wakes=2 things=3 tried=3 name=\"app\"\n"
        "# critical: thread ns=101000000 tid=102 pid=100 name=\"waiter\"\n"
        "# critical: thread ns=49000000 tid=101 pid=100 name=\"holder\"\n"
        "# critical: free gain=150000000 waited=100000000 waits=1 kind=1 path=0 "
        "name=\"[end of a thread]\"\n"
        "# critical: free gain=149000000 waited=149000000 waits=2 kind=6 path=149000000 "
        "name=\"nanosleep\"\n"
        "# critical: free gain=50000000 waited=49000000 waits=1 kind=1 path=0 name=\"futex "
        "g_lock\"\n"
        "holder;hold;nanosleep 49000\n"
        "waiter;[running] 1000\n"
        "waiter;work;nanosleep 100000\n",
        "critical path: a range that ends in a wait continues with the thread waited for");
}

/* Checks the comments that the rules give. Releases the trace. */
static void tries(struct made *m, struct fold_when when, const char *const *texts, size_t n,
                  const char *want, const char *what)
{
    struct strbuf got = STRBUF_INIT;
    struct whatif_rules rules = {.n = 0};
    char *text, *line, *end;

    for (size_t i = 0; i < n; i++)
        whatif_take(&rules, NULL,
                    &(struct opts_given){.command = "x", .name = "--what-if", .value = texts[i]});
    is_int(rules.n, n, "%s: the rules are taken", what);
    when.what_if = &rules;
    text = made_fold(m, "critical", &when);
    for (line = text; *line; line = end + (*end == '\n')) {
        end = strchrnul(line, '\n');
        if (strncmp(line, "# critical: what-if ", 20) == 0 ||
            strncmp(line, "# critical: last ", 17) == 0)
            strbuf_addf(&got, "%.*s\n", (int)(end - line) - 12, line + 12);
    }
    is_str(got.buf ? got.buf : "", want, "%s", what);
    whatif_rules_release(&rules);
    strbuf_release(&got);
    free(text);
}

#define TRIES(m, when, want, what, ...)                                                            \
    tries(m, when, (const char *const[]){__VA_ARGS__},                                             \
          sizeof((const char *const[]){__VA_ARGS__}) / sizeof(char *), want, what)

/* Waits that are known as sums, on the path and in a thread that ends last without the others. */
static void test_what_if_of_sums(void)
{
    const struct fold_when all = {.range = false};
    uint16_t a, b;
    struct made m;

    made_begin(&m);
    a = made_thread(&m, 100, "a", 0, 100, 0);
    ob_sleep(&m.b, made_on(&m, a, "f/futex q"), a, TRACE_OFF_LOCK, 30 * (uint64_t)MS, 0);
    made_note(&m, TRACE_INTERVAL_SUM, 20, 60, 30, 0);
    made_ran(&m, a, 0, 100, 50);
    TRIES(&m, all,
          "what-if gain=15000000 waits=1 path=30000000 all=1 all-ns=30000000 cpu=50000000 "
          "name=\"futex q=0.5\"\n",
          "what if: of waits that are known as sums", "futex q=0.5");

    made_begin(&m);
    a = made_thread(&m, 100, "a", 0, 200, 0);
    b = made_thread(&m, 101, "b", 0, 150, a);
    made_slept(&m, made_on(&m, a, "f/nanosleep"), a, TRACE_OFF_TIMER, 1, 190, 0);
    ob_sleep(&m.b, made_on(&m, b, "g/futex q"), b, TRACE_OFF_LOCK, 30 * (uint64_t)MS, 0);
    made_note(&m, TRACE_INTERVAL_SUM, 0, 60, 30, 0);
    made_ran(&m, b, 0, 150, 120);
    TRIES(&m, all,
          "what-if gain=94500000 waits=1 path=189000000 all=2 all-ns=219000000 cpu=120000000 "
          "name=\"sleep|q=0.5\"\n"
          "last gain=65000000 tid=101 name=\"b\"\n",
          "what if: of waits that are known as sums, in another thread", "sleep|q=0.5");
}

/* A thread begins sooner if the one that creates it waits less before. */
static void test_what_if_of_a_later_thread(void)
{
    const struct fold_when all = {.range = false};
    uint16_t app, later;
    struct made m;

    made_begin(&m);
    app = made_thread(&m, 100, "app", 0, 302, 0);
    later = made_thread(&m, 101, "later", 101, 300, app);
    made_slept(&m, made_on(&m, app, "prepare/nanosleep"), app, TRACE_OFF_TIMER, 2, 100, 0);
    made_slept(&m, made_on(&m, later, "work/nanosleep"), later, TRACE_OFF_TIMER, 101, 299, 0);
    made_slept(&m, made_woken(&m, made_on(&m, app, "main/futex [stack]"), later, "exit"), app,
               TRACE_OFF_LOCK, 102, 300, 0);
    TRIES(&m, all,
          "what-if gain=98000000 waits=1 path=98000000 all=1 all-ns=98000000 cpu=0 "
          "name=\"prepare=0\"\n",
          "what if: a thread begins sooner", "prepare=0");
}

/* The lock's recording if some of its waits had been shorter. */
static void test_what_if(void)
{
    const struct fold_when all = {.range = false};
    const struct fold_when part = {.range = true,
                                   .from = {.given = true, .asked_ns = 450 * (uint64_t)MS},
                                   .to = {.given = true, .asked_ns = 600 * (uint64_t)MS}};
    const struct fold_when holder = {.range = true, .ends_in = "holder"};
    uint16_t aside;
    struct made m;

    /* The main thread has to wait for the holder until 500. */
    make_lock(&m);
    TRIES(&m, all,
          "what-if gain=201000000 waits=1 path=0 all=1 all-ns=400000000 cpu=9000000 "
          "name=\"futex g_lock=0\"\n",
          "what if: without the lock another chain is the longest", "futex g_lock=0");
    make_lock(&m);
    TRIES(&m, all,
          "what-if gain=248500000 waits=1 path=497000000 all=1 all-ns=497000000 cpu=9000000 "
          "name=\"^hold$=0.5\"\n",
          "what if: a function's waits take half their time", "^hold$=0.5");
    make_lock(&m);
    TRIES(&m, all,
          "what-if gain=696000000 waits=2 path=696000000 all=3 all-ns=795000000 cpu=9000000 "
          "name=\"sleep=0\"\n"
          "what-if gain=0 waits=2 path=696000000 all=3 all-ns=795000000 cpu=9000000 "
          "name=\"sleep=1\"\n"
          "what-if gain=0 waits=0 path=0 all=0 all-ns=0 cpu=9000000 name=\"nosuch=0\"\n"
          "what-if gain=696000000 waits=2 path=696000000 all=3 all-ns=795000000 cpu=9000000 "
          "name=\"\"\n",
          "what if: several rules, each and all together, of which the first that matches counts",
          "sleep=0", "sleep=1", "nosuch=0");
    make_lock(&m);
    TRIES(&m, all,
          "what-if gain=699000000 waits=1 path=0 all=2 all-ns=699000000 cpu=9000000 "
          "name=\"end of a thread=0\"\n"
          "last gain=205000000 tid=101 name=\"holder\"\n",
          "what if: without the joins a thread ends behind the path", "end of a thread=0");

    make_lock(&m);
    TRIES(&m, all,
          "what-if gain=199000000 waits=1 path=199000000 all=1 all-ns=199000000 cpu=9000000 "
          "name=\"^waiter:work:nanosleep$=0\"\n",
          "what if: a stack's text matches", "^waiter;work;nanosleep$=0");

    /* A thread that nothing on the path waits for, and that ends by itself. */
    make_lock(&m);
    aside = made_thread(&m, 103, "aside", 1, 400, 1);
    made_slept(&m, made_on(&m, aside, "aside/nanosleep"), aside, TRACE_OFF_TIMER, 1, 400, 0);
    TRIES(&m, all,
          "what-if gain=400000000 waits=1 path=497000000 all=1 all-ns=497000000 cpu=9000000 "
          "name=\"^hold$=0\"\n"
          "last gain=305000000 tid=103 name=\"aside\"\n",
          "what if: a thread that then ends last is named", "^hold$=0");

    make_lock(&m);
    TRIES(&m, part,
          "what-if gain=100000000 waits=1 path=100000000 all=1 all-ns=199000000 cpu=1691588 "
          "name=\"^work$=0\"\n",
          "what if: of a range that ends in a wait", "^work$=0");
    make_lock(&m);
    aside = made_thread(&m, 103, "aside", 1, 400, 1);
    made_slept(&m, made_on(&m, aside, "aside/nanosleep"), aside, TRACE_OFF_TIMER, 1, 400, 0);
    TRIES(&m, holder,
          "what-if gain=497000000 waits=1 path=497000000 all=1 all-ns=497000000 cpu=6969196 "
          "name=\"^hold$=0\"\n",
          "what if: of the path to another thread's end", "^hold$=0");

    test_what_if_of_sums();
    test_what_if_of_a_later_thread();
}

/* Two threads that wake each other at one time, as coarse clocks record it; short waits summed up;
 * a thread without a known creator. */
static void test_odd(void)
{
    struct made m;
    uint16_t a, b;

    made_begin(&m);
    a = made_thread(&m, 100, "a", 0, 100, 0);
    b = made_thread(&m, 101, "b", 0, 100, a);
    made_slept(&m, made_woken(&m, made_on(&m, a, "f/read pipe"), b, "g/write pipe"), a,
               TRACE_OFF_LOCAL, 10, 50, 0);
    made_slept(&m, made_woken(&m, made_on(&m, b, "g/read pipe"), a, "f/write pipe"), b,
               TRACE_OFF_LOCAL, 20, 50, 0);
    folds_to(&m, NULL,
             "# flame: view=critical unit=us\n"
             "# critical: path length=100000000 from=0 ran=0 waited=40000000 woken=0 short=0 "
             "other=60000000 unknown=0 threads=1 wakes=2 things=1 tried=1 name=\"a\"\n"
             "# critical: thread ns=100000000 tid=100 pid=100 name=\"a\"\n"
             "# critical: free gain=40000000 waited=110000000 waits=3 kind=4 path=40000000 "
             "name=\"read pipe\"\n"
             "a;f;read pipe 40000\n",
             "critical path: two threads that wake each other make no circle");

    made_begin(&m);
    a = made_thread(&m, 100, "a", 0, 100, 0);
    ob_sleep(&m.b, made_on(&m, a, "f/futex q"), a, TRACE_OFF_LOCK, 30 * (uint64_t)MS, 0);
    made_note(&m, TRACE_INTERVAL_SUM, 20, 60, 30, 0);
    made_ran(&m, a, 0, 100, 50);
    folds_to(&m, NULL,
             "# flame: view=critical unit=us\n"
             "# critical: path length=100000000 from=0 ran=70000000 waited=0 woken=0 "
             "short=30000000 other=0 unknown=0 threads=1 wakes=0 things=1 tried=1 name=\"a\"\n"
             "# critical: thread ns=100000000 tid=100 pid=100 name=\"a\"\n"
             "# critical: free gain=30000000 waited=30000000 waits=1 kind=1 path=30000000 "
             "name=\"futex q\"\n"
             "a;[running] 70000\n"
             "a;f;futex q 30000\n",
             "critical path: summed short waits have their part and a possible gain");

    made_begin(&m);
    a = made_thread(&m, 100, "a", 0, 100, 0);
    b = made_thread(&m, 101, "b", 40, 90, 0);
    made_slept(&m, made_woken(&m, made_on(&m, a, "f/futex q"), b, "g/futex q"), a, TRACE_OFF_LOCK,
               10, 80, 0);
    made_ran(&m, a, 0, 100, 30);
    made_ran(&m, b, 40, 90, 50);
    folds_to(
        &m, NULL,
        "# flame: view=critical unit=us\n"
        "# critical: path length=100000000 from=0 ran=60000000 waited=0 woken=0 short=0 "
        "other=0 unknown=40000000 threads=2 wakes=1 things=1 tried=1 name=\"a\"\n"
        "# critical: thread ns=40000000 tid=101 pid=100 name=\"b\"\n"
        "# critical: thread ns=20000000 tid=100 pid=100 name=\"a\"\n"
        "# critical: free gain=70000000 waited=70000000 waits=1 kind=1 path=0 name=\"futex q\"\n"
        "a;[running] 20000\n"
        "b;[running] 40000\n",
        "critical path: the time before a thread without a known creator is unknown");
}

/* A thread that had a CPU for two fifths of the time that it was not asleep. */
static void test_run_queue(void)
{
    struct made m;
    uint16_t a;

    made_begin(&m);
    a = made_thread(&m, 100, "a", 0, 120, 0);
    made_slept(&m, made_on(&m, a, "f/read"), a, TRACE_OFF_FILE, 10, 30, 0);
    ob_oncpu(&m.b, tb_root(&m.b, 0, a), a, 40 * MS, 60 * MS);
    made_note(&m, TRACE_INTERVAL_SHARE, 0, 120, 40, 60);
    folds_to(&m, NULL,
             "# flame: view=critical unit=us\n"
             "# critical: path length=120000000 from=0 ran=40000000 waited=20000000 woken=60000000 "
             "short=0 other=0 unknown=0 threads=1 wakes=0 things=1 tried=1 name=\"a\"\n"
             "# critical: thread ns=120000000 tid=100 pid=100 name=\"a\"\n"
             "# critical: free gain=20000000 waited=20000000 waits=1 kind=2 path=20000000 "
             "name=\"read\"\n"
             "a;[running] 100000\n"
             "a;f;read 20000\n",
             "critical path: time in the run queue is not time on a CPU");
}

/* The waker is asleep again by the time the sleeper could run. */
static void test_slow_wake(void)
{
    struct made m;
    uint16_t a, b;

    made_begin(&m);
    a = made_thread(&m, 100, "a", 0, 100, 0);
    b = made_thread(&m, 101, "b", 0, 100, a);
    made_slept(&m, made_woken(&m, made_on(&m, a, "f/read pipe"), b, "g/write pipe"), a,
               TRACE_OFF_LOCAL, 10, 50, 0);
    made_slept(&m, made_on(&m, b, "g/nanosleep"), b, TRACE_OFF_TIMER, 45, 95, 0);
    made_ran(&m, a, 0, 100, 60);
    made_ran(&m, b, 0, 100, 50);
    folds_to(
        &m, NULL,
        "# flame: view=critical unit=us\n"
        "# critical: path length=100000000 from=0 ran=95000000 waited=0 woken=5000000 short=0 "
        "other=0 unknown=0 threads=2 wakes=1 things=1 tried=1 name=\"a\"\n"
        "# critical: thread ns=55000000 tid=100 pid=100 name=\"a\"\n"
        "# critical: thread ns=45000000 tid=101 pid=100 name=\"b\"\n"
        "# critical: free gain=40000000 waited=35000000 waits=1 kind=4 path=0 name=\"read pipe\"\n"
        "a;[running] 55000\n"
        "b;[running] 45000\n",
        "critical path: it continues at the waker's last time awake");
}

static void test_refused(void)
{
    struct fold_when when = {.range = true, .ends_in = "nobody"};
    struct made m;
    char *got;

    make_lock(&m);
    got = made_fold(&m, "critical", &when);
    is_str(got, "refused", "critical path: an unknown thread is refused");
    free(got);
    when =
        (struct fold_when){.range = true, .from = {.given = true, .asked_ns = 800 * (uint64_t)MS}};
    make_lock(&m);
    got = made_fold(&m, "critical", &when);
    is_str(got, "refused", "critical path: a range behind the end is refused");
    free(got);
    made_begin(&m);
    made_slept(&m, made_on(&m, ob_thread(&m.b, 1, 1, "old"), "f/g"), 1, TRACE_OFF_OTHER, 1, 2, 0);
    got = made_fold(&m, "critical", NULL);
    is_str(got, "refused", "critical path: a trace without the threads' begins is refused");
    free(got);
}

static bool takes(struct critical_text *c, const char *line)
{
    return critical_text_line(c, line, strlen(line));
}

/* Takes the lines about rules, of which there may be too many. */
static void test_text_of_rules(struct critical_text *c)
{
    unsigned taken = 0;

    for (unsigned i = 0; i < 2 * CRITICAL_TEXT_MOST; i++)
        taken +=
            takes(c, "# critical: what-if gain=1 waits=2 path=3 all=4 all-ns=5 cpu=6 name=\"x=0\"");
    is_int(taken, CRITICAL_TEXT_MOST, "critical_text: at most CRITICAL_TEXT_MOST rules are kept");
    is_int(c->what_if[0].gain_ns == 1 && c->what_if[0].waits == 2 && c->what_if[0].path_ns == 3 &&
               c->what_if[0].all == 4 && c->what_if[0].all_ns == 5 && c->what_if[0].cpu_ns == 6,
           1, "critical_text: a rule's line gives its numbers");
    is_int(takes(c, "# critical: last gain=7 tid=8 name=\"y\""), 1,
           "critical_text: the thread that ends last is accepted");
    is_int(takes(c, "# critical: last gain=9 tid=9 name=\"z\""), 0,
           "critical_text: a rule has one such thread");
    is_str(c->what_if[CRITICAL_TEXT_MOST - 1].last, "y",
           "critical_text: the thread that ends last belongs to the rule before it");
}

static void test_text(void)
{
#define PATH                                                                                       \
    "# critical: path length=70 from=1 ran=2 waited=3 woken=4 short=5 other=6 unknown=7 "          \
    "threads=8 wakes=9 things=1 tried=1 name=\"a name=\\\"x\""
#define BIG                                                                                        \
    "# critical: path length=99999999999999999999 ran=2 waited=3 woken=4 short=5 unknown=7 "       \
    "threads=8 name=\"x\""
    static const char *const wrong[] = {
        "",
        "# critical: ",
        "# critical: \"",
        "# critical: path name=\"x\"",
        "# lanes: path name=\"",
        "# critical: path length= ran=2 waited=3 woken=4 short=5 unknown=7 threads=8 name=\"x\"",
        BIG,
        "# critical: path length=7x ran=2 waited=3 woken=4 short=5 unknown=7 threads=8 name=\"x\"",
        "# critical: free gain=1 name=\"x\"",
        "# critical: thread name=\"x\"",
        "# critical: other gain=1 kind=1 name=\"x\"",
        "# critical: what-if gain=1 waits=1 path=1 all=1 all-ns=1 name=\"x\"",
        "# critical: last gain=1 tid=1 name=\"x\""};
    struct critical_text c;
    unsigned taken = 0;

    critical_text_init(&c);
    is_int(takes(&c, "# critical: thread ns=1 tid=2 pid=3 name=\"early\""), 0,
           "critical_text: a line before a path is ignored");
    is_int(takes(&c, PATH), 1, "critical_text: a path line is accepted");
    is_int(c.length_ns + c.ran_ns + c.waited_ns + c.woken_ns + c.short_ns + c.unknown_ns +
               c.nthreads,
           70 + 2 + 3 + 4 + 5 + 7 + 8, "critical_text: a path line gives its numbers");
    is_str(c.ends_in, "a name=\\\"x", "critical_text: a hostile name is kept as it is");
    for (size_t i = 0; i < ARRAY_LEN(wrong); i++)
        taken += takes(&c, wrong[i]);
    is_int(taken, 0, "critical_text: malformed lines are ignored");
    for (int i = 0; i < 40; i++)
        takes(&c, "# critical: free gain=12 waited=1 waits=1 kind=6 name=\"nap\"");
    is_int(c.things, CRITICAL_TEXT_MOST,
           "critical_text: at most CRITICAL_TEXT_MOST objects are kept");
    is_int(c.thing[0].ns == 12 && c.thing[0].kind == 6, 1,
           "critical_text: an object's line gives its numbers");
    test_text_of_rules(&c);
    is_int(takes(&c, PATH), 1, "critical_text: a second path line is accepted");
    is_int(takes(&c, "# critical: thread ns=1 tid=2 pid=3 name=\"late\""), 1,
           "critical_text: a thread of a second path is accepted");
    is_int(c.paths == 2 && c.threads == 0, 1,
           "critical_text: threads of a second path do not join the first");
    critical_text_release(&c);
#undef PATH
#undef BIG
}

/* The tracer was killed: no thread has an end, or one has. */
static void test_without_ends(void)
{
    struct made m;
    struct trace *t = NULL;
    struct lastknown l;
    uint16_t a, b, c;

    made_begin(&m);
    a = ob_thread(&m.b, 100, 100, "a");
    b = ob_thread(&m.b, 100, 101, "b");
    c = ob_thread(&m.b, 100, 102, "c");
    made_slept(&m, made_on(&m, a, "main/nap"), a, TRACE_OFF_TIMER, 10, 50, 5);
    made_slept(&m, made_on(&m, b, "b/nap"), b, TRACE_OFF_TIMER, 20, 60, 0);
    made_slept(&m, made_on(&m, c, "c/nap"), c, TRACE_OFF_TIMER, 0, 90, 0);
    made_slept(&m, made_on(&m, a, "main/more"), a, TRACE_OFF_TIMER, 60, 80, 0);
    ((struct trace_off_thread *)tb_thread_at(&m.b, c))->wall_ns = 95 * MS;
    tb_meta(&m.b, TRACE_META_INTERVALS, &m.log, sizeof m.log);
    if (trace_load_bytes("test", m.b.data, m.b.len, false, &t)) {
        ok(false, "a trace without thread ends loads");
        return;
    }
    l = lastknown_of(t);
    is_int((intmax_t)l.threads, 2, "lastknown_of counts threads without an end");
    ok(l.timed, "lastknown_of has a limit of the CPU time");
    is_int((intmax_t)l.most_ran_ns, 10 * MS,
           "lastknown_of limits the CPU time to what lies between the waits");
    trace_free(t);
    tb_release(&m.b);
}

int main(void)
{
    test_lock();
    test_what_if();
    test_odd();
    test_run_queue();
    test_slow_wake();
    test_refused();
    test_text();
    test_without_ends();
    return done_testing();
}
