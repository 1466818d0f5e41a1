/* Lock handoffs: which waits are for one object, where a sleep is split among lock holders, and
 * which chain each part gets. */
#include <errno.h>
#include <linux/futex.h>
#include <stdlib.h>
#include <sys/syscall.h>

#include "common/strbuf.h"
#include "tests/tap.h"
#include "tracer/offcpu/lock_handoff.h"

static struct wake *wake_of(pid_t tid, const struct past *past)
{
    struct off_waker who = {.tid = tid};

    return wake_new(&who, 1, 100, past, OFF_CHAIN_MAX);
}

static struct off_sleep sleep_on(enum off_object_kind kind, uint64_t a, uint64_t b, int nr)
{
    return (struct off_sleep){.tid = 1, .nr = nr, .object = {.kind = kind, .a = a, .b = b}};
}

static void test_kinds(void)
{
    static const enum off_object_kind passed[] = {OFF_ON_FUTEX, OFF_ON_PIPE, OFF_ON_EVENTFD,
                                                  OFF_ON_SEM,   OFF_ON_MSGQ, OFF_ON_MQUEUE,
                                                  OFF_ON_LOCK};

    for (int kind = 0; kind < OFF_ON_KINDS; kind++) {
        struct off_sleep s = {.object.kind = (enum off_object_kind)kind};
        bool has = false;

        for (size_t i = 0; i < ARRAY_LEN(passed); i++)
            has |= passed[i] == s.object.kind;
        is_int(holding_is_of(&s), has,
               "kind %d: holding_is_of accepts the kinds that pass from thread to thread", kind);
        s.result = 1;
        is_int(holding_is_of(&s), has,
               "a call that returned more than 0 is a handoff like one that returned 0");
        s.result = -EAGAIN;
        ok(!holding_is_of(&s), "a failed call is no handoff");
    }
}

/* Thread 2 ends a wait of thread 1; before, thread 3 had ended one of thread 2. */
struct wait {
    enum off_object_kind kind;
    uint64_t a, b;
    int nr;
    uint32_t like;
};

/* Number of holdings of the later wait: 1 if the two are for different objects. */
static size_t turns_of(struct wait before, struct wait after, bool *same)
{
    struct off_sleep s = sleep_on(before.kind, before.a, before.b, before.nr);
    struct past past = {.last = {.end = 0}};
    struct wake *third = wake_of(3, NULL), *second;
    struct holding *holding;
    size_t n;

    s.tid = 2;
    s.end = 50;
    holdings_add(&past.held, holding_new(&s, before.like, third));
    second = wake_of(2, &past);
    s = sleep_on(after.kind, after.a, after.b, after.nr);
    s.end = 120;
    holding = holding_new(&s, after.like, second);
    n = holding->n;
    *same = holding->held[0].same && (n < 2 || holding->held[1].same);
    ok(holding->held[0].until == 120 && holding->held[0].by->links[0].who.tid == 2 &&
           !holding->held[0].by->held.list[0],
       "a holding starts with the thread that ended the wait, without that thread's own holdings");
    ok(off_same(&holding->object, &s.object) && holding->like == after.like,
       "a holding has the object and the likeness of its wait");
    if (n > 1)
        ok(holding->held[1].until == 50 && holding->held[1].by->links[0].who.tid == 3,
           "a holding continues with the thread that ended the holder's own wait");
    holding_unref(holding);
    wake_unref(second);
    past_clear(&past);
    wake_unref(third);
    return n;
}

static void test_same(void)
{
    static const struct {
        const char *what;
        struct wait before, after;
        size_t turns;
        bool same;
    } cases[] = {
        {"one lock", {OFF_ON_LOCK, 1, 2, SYS_flock, 0}, {OFF_ON_LOCK, 1, 2, SYS_flock, 0}, 2, true},
        {"two locks",
         {OFF_ON_LOCK, 1, 2, SYS_flock, 0},
         {OFF_ON_LOCK, 1, 3, SYS_flock, 0},
         1,
         true},
        {"one futex",
         {OFF_ON_FUTEX, 1, 2, SYS_futex, 0},
         {OFF_ON_FUTEX, 1, 2, SYS_futex, 0},
         2,
         true},
        {"two futexes waited for by the same code",
         {OFF_ON_FUTEX, 1, 2, SYS_futex, 7},
         {OFF_ON_FUTEX, 1, 3, SYS_futex, 7},
         2,
         false},
        {"two futexes waited for by different code",
         {OFF_ON_FUTEX, 1, 2, SYS_futex, 7},
         {OFF_ON_FUTEX, 1, 3, SYS_futex, 8},
         1,
         true},
        {"two futexes waited for by unknown code",
         {OFF_ON_FUTEX, 1, 2, SYS_futex, 0},
         {OFF_ON_FUTEX, 1, 3, SYS_futex, 0},
         1,
         true},
        {"two futexes in two processes",
         {OFF_ON_FUTEX, 1, 2, SYS_futex, 7},
         {OFF_ON_FUTEX, 2, 3, SYS_futex, 7},
         1,
         true},
        {"a lock and a futex",
         {OFF_ON_LOCK, 1, 2, SYS_flock, 7},
         {OFF_ON_FUTEX, 1, 3, SYS_futex, 7},
         1,
         true},
        {"a futex and a lock",
         {OFF_ON_FUTEX, 1, 2, SYS_futex, 7},
         {OFF_ON_LOCK, 1, 3, SYS_flock, 7},
         1,
         true},
        {"two locks, by the same code",
         {OFF_ON_LOCK, 1, 2, SYS_flock, 7},
         {OFF_ON_LOCK, 1, 3, SYS_flock, 7},
         1,
         true},
        {"a set of semaphores, which may be several locks",
         {OFF_ON_SEM, 1, 0, SYS_semop, 0},
         {OFF_ON_SEM, 1, 0, SYS_semop, 0},
         2,
         false},
        {"a pipe's data",
         {OFF_ON_PIPE, 1, 0, SYS_read, 0},
         {OFF_ON_PIPE, 1, 0, SYS_read, 0},
         2,
         true},
        {"a pipe's data, and its room",
         {OFF_ON_PIPE, 1, 0, SYS_read, 0},
         {OFF_ON_PIPE, 1, 0, SYS_write, 0},
         1,
         true},
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        bool same;

        is_int((intmax_t)turns_of(cases[i].before, cases[i].after, &same), (intmax_t)cases[i].turns,
               "%s: number of holders", cases[i].what);
        is_int(same, cases[i].same, "%s: whether all holders had one lock", cases[i].what);
    }
}

/* A lock passes among more threads than a holding keeps; the wait looked up is not the last one. */
static void test_round(void)
{
    struct past past = {.last = {.end = 0}};
    struct off_sleep s = sleep_on(OFF_ON_LOCK, 1, 1, SYS_flock);
    struct holding *turn = NULL;
    struct holdings copy;

    for (int i = 0; i < 12; i++) {
        struct wake *w = wake_of(100 + i, &past);

        past_clear(&past); /* past belongs to another thread, whose last waits these become */
        s.object.a = 1;
        s.end = (uint64_t)(1000 + 10 * i);
        turn = holding_new(&s, 0, w);
        holdings_add(&past.held, turn);
        s.object.a = (uint64_t)(50 + i);
        holdings_add(&past.held, holding_new(&s, 0, w));
        wake_unref(w);
    }
    is_int((intmax_t)turn->n, HOLDINGS_KEPT, "a holding keeps the last %d holders", HOLDINGS_KEPT);
    for (size_t i = 0; i < turn->n; i++)
        ok(turn->held[i].until == 1110 - 10 * i &&
               turn->held[i].by->links[0].who.tid == 111 - (pid_t)i && turn->held[i].same,
           "holder %zu of the holding is in order, latest first", i);

    holdings_copy(&copy, &past.held);
    is_int((intmax_t)turn->refs, 2, "holdings_copy shares the holdings");
    ok(copy.list[1] == turn && !copy.list[2], "holdings_copy copies all holdings");
    holdings_clear(&past.held);
    ok(turn->refs == 1 && !past.held.list[0] && !past.held.list[1],
       "a copied holding outlives the original list");
    for (int i = 0; i < HOLDINGS_KEPT; i++) {
        struct wake *w = wake_of(9, NULL);

        s.object.a = (uint64_t)i;
        if (i == HOLDINGS_KEPT - 2)
            ok(copy.list[HOLDINGS_KEPT - 1] == turn, "holdings_add drops the oldest holding last");
        holdings_add(&copy, holding_new(&s, 0, w));
        wake_unref(w);
    }
    for (size_t i = 0; i < HOLDINGS_KEPT; i++)
        ok(copy.list[i] && copy.list[i]->object.a == HOLDINGS_KEPT - 1 - i,
           "holdings_add puts the latest holding first");
    holdings_clear(&copy);
    past_clear(&past);
    holding_unref(NULL);
}

/* ---- parts ---- */

#define SLEEPER 1

/* A holding whose waits ended at these times, by threads 10, 11, ..., followed by an entry that
 * does not belong to it. */
struct made {
    struct holding turn;
    struct holding_span behind;
};

static void make_turn(struct made *m, const uint64_t *until, size_t n)
{
    *m = (struct made){.turn = {.refs = 1, .n = n}};
    m->turn.held[0].by = wake_of(10, NULL);
    m->turn.held[0].same = true;
    for (size_t i = 0; i < n; i++) {
        if (i)
            m->turn.held[i].by = wake_of(10 + (pid_t)i, NULL);
        m->turn.held[i].until = until[i];
        m->turn.held[i].same = true;
    }
    m->behind = (struct holding_span){.until = 1001, .by = m->turn.held[0].by};
    if (n < HOLDINGS_KEPT)
        m->turn.held[n] = m->behind;
}

static void free_turn(struct made *m)
{
    for (size_t i = 0; i < m->turn.n; i++)
        wake_unref(m->turn.held[i].by);
}

/* "BEGIN+BLOCKED/HELD ..." */
static void is_parts(const uint64_t *until, size_t n, struct off_sleep s, const char *want,
                     const char *what)
{
    struct holding_part part[HOLDINGS_KEPT];
    struct strbuf sb = STRBUF_INIT;
    struct made m;
    size_t count;

    make_turn(&m, until, n);
    count = holding_split(&m.turn, &s, part);
    for (size_t i = 0; i < count; i++)
        strbuf_addf(&sb, "%s%" PRIu64 "+%" PRIu64 "/%zu", i ? " " : "", part[i].begin,
                    part[i].blocked_ns, part[i].held);
    is_str(sb.buf, want, "%s", what);
    strbuf_release(&sb);
    free_turn(&m);
}

#define UNTIL(...) (const uint64_t[]){__VA_ARGS__}, sizeof((uint64_t[]){__VA_ARGS__}) / 8

static void test_parts(void)
{
    struct off_sleep s = {.tid = SLEEPER, .begin = 1000, .end = 2000, .blocked_ns = 900};

    is_parts(UNTIL(2000), s, "1000+900/0", "one holder: the sleep is one part");
    is_parts(
        UNTIL(2000, 1600), s, "1600+300/0 1000+600/1",
        "two holders: the oldest part has its full time, the latest loses the time after the wake");
    is_parts(UNTIL(2000, 1600, 1300), s, "1600+300/0 1300+300/1 1000+300/2",
             "three holders: the sleep is three parts");
    is_parts(UNTIL(2000, 1600, 1000), s, "1600+300/0 1000+600/1",
             "a holder whose wait ended as the sleep began is no part");
    is_parts(UNTIL(2000, 1600, 500, 300), s, "1600+300/0 1000+600/1",
             "holders from before the sleep are no parts");
    is_parts(UNTIL(2000, 2000, 1500), s, "1000+900/0", "a holding of zero length ends the split");
    is_parts(UNTIL(2000, 2100, 1500), s, "1000+900/0",
             "a holding that ends after the next one ends the split");
    is_parts(UNTIL(2000, 1999), s, "1999+0/0 1000+900/1", "the latest part may be short");
    is_parts(UNTIL(2000, 1984, 1969), s, "1969+0/0 1000+900/2",
             "a short part other than the latest joins the one after it");
    is_parts(UNTIL(2000, 1984, 1968), s, "1984+0/0 1968+0/1 1000+900/2",
             "a part of one 64th is not short");
    is_parts(UNTIL(2000, 1500, 1490), s, "1490+410/0 1000+490/2",
             "a short part in the middle joins its neighbour");
    is_parts(UNTIL(2000, 1900, 1800, 1700, 1600, 1500, 1400, 1300), s,
             "1900+0/0 1800+100/1 1700+100/2 1600+100/3 1500+100/4 1400+100/5 1300+100/6 "
             "1000+300/7",
             "a sleep is split among as many holders as are kept");
    s.end = 1000;
    s.blocked_ns = 0;
    is_parts(UNTIL(2000, 1600), s, "1000+0/0", "a sleep of no time is one part");
}

static void test_own(void)
{
    struct off_sleep s = {.tid = 12, .begin = 1000, .end = 2000, .blocked_ns = 1000};

    is_parts(UNTIL(2000, 1800, 1500), s, "1800+200/0 1000+800/1",
             "a holding of the sleeper itself ends the split");
}

static void test_chain(void)
{
    struct off_sleep s = {.tid = SLEEPER, .begin = 1000, .end = 2000, .chain_len = 3};
    struct holding_part part = {.begin = 1000, .held = 2};
    struct made m;

    make_turn(&m, UNTIL(2000, 1600, 1300));
    holding_fill_chain(&m.turn, &part, &s, 8);
    ok(s.chain_len == 1 && s.chain[0].tid == 12, "one lock: the part's chain is its holder");
    m.turn.held[2].same = false;
    holding_fill_chain(&m.turn, &part, &s, 8);
    ok(s.chain_len == 2 && s.chain[0].tid == 11 && s.chain[1].tid == 12,
       "possibly two locks: the chain includes the thread that woke the sleeper");
    m.turn.held[1].same = false;
    holding_fill_chain(&m.turn, &part, &s, 8);
    ok(s.chain_len == 3 && s.chain[0].tid == 10 && s.chain[1].tid == 11 && s.chain[2].tid == 12,
       "possibly three locks: the chain includes every thread in between");
    holding_fill_chain(&m.turn, &part, &s, 2);
    ok(s.chain_len == 2 && s.chain[1].tid == 11, "a chain of two links has the depth limit 2");
    holding_fill_chain(&m.turn, &part, &s, 1);
    ok(s.chain_len == 1 && s.chain[0].tid == 10, "a chain of one link has the depth limit 1");
    part.held = 1;
    holding_fill_chain(&m.turn, &part, &s, 8);
    ok(s.chain_len == 2 && s.chain[1].tid == 11, "the chain ends at the holder of the part");
    part.held = 0;
    holding_fill_chain(&m.turn, &part, &s, 8);
    ok(s.chain_len == 1 && s.chain[0].tid == 10,
       "the chain of the latest part is its holder alone");
    part.held = 2;
    s.tid = 11;
    holding_fill_chain(&m.turn, &part, &s, 8);
    ok(s.chain_len == 1 && s.chain[0].tid == 10,
       "the chain ends where the sleeper itself would follow");
    free_turn(&m);
}

int main(void)
{
    test_kinds();
    test_same();
    test_round();
    test_parts();
    test_own();
    test_chain();
    return done_testing();
}
