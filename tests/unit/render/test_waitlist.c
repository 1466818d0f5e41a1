/*
 * Waits unpacked from lanes: their order, which of them have a thread's track to themselves, and
 * where a waking call is put when its waker was asleep by its own times.
 */
#include "render/export/waitlist.h"

#include <stdio.h>

#include "common/trace/varint_base64.h"
#include "common/trace_format.h"
#include "tests/tap.h"
#include "tests/unit/foldedtree.h"

#define KIND_LOCK 1

/* An interval as the text has it. */
struct entry {
    uint64_t row, begin, length, rest, runq, kind, times;
};

static void add_packed(struct strbuf *sb, const char *key, const uint64_t *v, size_t n)
{
    struct varint_writer p;

    strbuf_addf(sb, " %s=", key);
    varint_begin(&p, sb);
    for (size_t i = 0; i < n; i++)
        varint_add(&p, v[i]);
    varint_end(&p);
}

static void add_waits(struct strbuf *sb, unsigned thread, const struct entry *e, size_t n)
{
    struct varint_writer p;
    uint64_t before = 0;

    strbuf_addf(sb, "# lanes: waits thread=%u n=%zu data=", thread, n);
    varint_begin(&p, sb);
    for (size_t i = 0; i < n; before = e[i++].begin) {
        varint_add(&p, e[i].row << 2 | e[i].kind);
        varint_add(&p, e[i].begin - before);
        varint_add(&p, e[i].length);
        varint_add_signed(&p, (int64_t)e[i].rest);
        varint_add(&p, e[i].runq);
        if (e[i].kind >= TRACE_INTERVAL_SHARE) {
            varint_add(&p, e[i].times);
            varint_add(&p, 1);
        }
    }
    varint_end(&p);
    strbuf_addch(sb, '\n');
}

/* Three threads: row 0 is of the first, woken by the second; row 1 of the second, row 2 of the
 * third, woken by no one. */
static void begin_text(struct strbuf *sb)
{
    static const uint64_t of[] = {0, 1, 2}, kinds[] = {KIND_LOCK, KIND_LOCK, KIND_LOCK},
                          wakers[] = {2, 0, 0};

    strbuf_addstr(sb, "app;a 1\napp;b 1\napp;a;--;call_[w];root_[w] 1\n"
                      "# lanes: begin rows=3 threads=3 short=0 window=0 lost=0\n");
    for (int i = 0; i < 3; i++)
        strbuf_addf(sb, "# lanes: thread pid=7 tid=%d uses=1 wall=1 cpu=1 runq=1 name= title=\n",
                    i == 2 ? 0 : 7 + i);
    strbuf_addstr(sb, "# lanes: rows");
    add_packed(sb, "thread", of, 3);
    add_packed(sb, "kind", kinds, 3);
    add_packed(sb, "waker", wakers, 3);
    strbuf_addstr(sb, "\n# lanes: in off app;a rows=AA==\n# lanes: in off app;b rows=Ag==\n"
                      "# lanes: in offwake app;a;--;call_[w];root_[w] rows=AA==\n");
}

static void make(struct foldedtree *f, struct waitlist *w, const struct entry *first, size_t nfirst,
                 const struct entry *second, size_t nsecond)
{
    struct strbuf sb = STRBUF_INIT;

    begin_text(&sb);
    add_waits(&sb, 0, first, nfirst);
    add_waits(&sb, 1, second, nsecond);
    foldedtree_make(f, sb.buf, sb.len, false);
    is_int((intmax_t)f->lanes.wrong, 0, "the text is understood");
    ok(waitlist_init(w, &f->tree, &f->lanes, false), "there are waits");
    strbuf_release(&sb);
}

static void release(struct foldedtree *f, struct waitlist *w)
{
    waitlist_release(w);
    foldedtree_release(f);
}

/* The time of the waking call of a wait of the first thread, from 1000 to 2000 with `runq`, if the
 * second thread lives from 0 to `end` and sleeps once. */
static uint64_t wake_of(uint64_t runq, uint64_t sleeps, uint64_t length, uint64_t end)
{
    const struct entry first[] = {{0, 1000, 1000, 0, runq, TRACE_INTERVAL_SLEEP, 1}},
                       second[] = {{1, 0, end, 0, 0, TRACE_INTERVAL_SHARE, 1},
                                   {1, sleeps, length, 0, 0, TRACE_INTERVAL_SLEEP, 1}};
    struct foldedtree f;
    struct waitlist w;
    uint64_t at;

    make(&f, &w, first, 1, second, 2);
    at = w.waits[0].wake_ns;
    is_int((intmax_t)w.unplaced, at == 0, "a wake without a time is counted");
    release(&f, &w);
    return at;
}

static void test_wakes(void)
{
    is_int((intmax_t)wake_of(100, 10, 20, 9000), 1900,
           "a waking call is when the sleeper becomes runnable");
    is_int((intmax_t)wake_of(0, 10, 20, 9000), 1999,
           "without a wait for a CPU it is just before the end of the sleep");
    is_int((intmax_t)wake_of(100, 1850, 500, 9000), 1849,
           "of a waker that is asleep by then it is just before it fell asleep");
    is_int((intmax_t)wake_of(100, 1900, 500, 9000), 1899,
           "so it is of one that falls asleep at that time");
    is_int((intmax_t)wake_of(100, 1500, 400, 9000), 1499,
           "so it is of one that awakes at that time");
    is_int((intmax_t)wake_of(100, 10, 20, 1700), 1699,
           "of a waker that has ended it is just before its end");
    is_int((intmax_t)wake_of(100, 900, 1050, 9000), 1951,
           "of a waker that was asleep until later it is when that awakes");
    is_int((intmax_t)wake_of(100, 900, 1099, 9000), 0,
           "a waker that awakes when the sleeper does has no waking call");
    is_int((intmax_t)wake_of(100, 900, 5000, 9000), 0,
           "a waker that slept all the time has no waking call");
    is_int((intmax_t)wake_of(100, 0, 1000, 900), 0,
           "a waker that was never awake has no waking call");
}

static void test_order(void)
{
    const struct entry first[] = {{0, 100, 1000, 0, 10, TRACE_INTERVAL_SUM, 5},
                                  {0, 150, 100, 20, 30, TRACE_INTERVAL_SLEEP, 1},
                                  {0, 200, 100, 0, 0, TRACE_INTERVAL_SLEEP, 1},
                                  {0, 250, 50, 0, 0, TRACE_INTERVAL_PART, 1},
                                  {0, 300, 50, 0, 0, TRACE_INTERVAL_SLEEP, 1}},
                       second[] = {{1, 5, 0, 0, 0, TRACE_INTERVAL_SLEEP, 1},
                                   {0, 5, 10, 0, 0, TRACE_INTERVAL_SLEEP, 1},
                                   {1, 5, 10, 30, 0, TRACE_INTERVAL_SLEEP, 1}};
    const struct frametree_name *leaf;
    struct foldedtree f;
    struct waitlist w;

    make(&f, &w, first, 5, second, 3);
    is_int((intmax_t)w.n, 7, "a wait of another thread's row is skipped");
    is_int((intmax_t)w.summed, 5, "waits in sums are counted");
    is_int((intmax_t)w.single, 5, "single waits are counted, a part not");
    ok(!w.waits[0].alone, "a sum does not have the track alone");
    ok(w.waits[1].alone && !w.waits[2].alone, "of two waits that overlap the first has the track");
    ok(w.waits[3].alone && w.waits[4].alone, "a part and the wait after it have the track");
    is_int((intmax_t)w.waits[1].ns, 50, "the time asleep is without the rest and the run queue");
    ok(!w.waits[5].alone, "a wait of no length does not have the track");
    is_int((intmax_t)w.waits[6].ns, 0, "a rest longer than the wait leaves no time asleep");
    is_int((intmax_t)w.threads[0].begin_ns, 100, "a thread begins with its first interval");
    is_int((intmax_t)w.threads[0].end_ns, 1100, "a thread ends with its last interval");
    is_int(w.threads[2].pid, 0, "a thread with id 0 has no ids");
    leaf = waitlist_leaf(&w, waitlist_row(&w, &w.waits[0])->node);
    ok(leaf->len == 1 && leaf->s[0] == 'a', "the leaf of a stack is what was waited for");
    release(&f, &w);
}

static void test_stacks(void)
{
    const struct entry first[] = {{0, 100, 1000, 0, 10, TRACE_INTERVAL_SLEEP, 1}},
                       second[] = {{1, 5, 9, 0, 0, TRACE_INTERVAL_SLEEP, 1}};
    const struct frametree_name *call;
    struct foldedtree f;
    struct waitlist w;

    make(&f, &w, first, 1, second, 1);
    call = waitlist_waking_call(&w, w.rows[0].wake_node);
    ok(call && call->len == 8 && memcmp(call->s, "call_[w]", 8) == 0,
       "the waking call is the frame behind the border");
    ok(!waitlist_waking_call(&w, w.rows[0].node), "a stack without a waker has no waking call");
    ok(w.rows[2].node == FRAMETREE_NONE && w.rows[1].wake_node == FRAMETREE_NONE,
       "a row without a stack has no node");
    release(&f, &w);
}

/* The only view is of chains whose numbers are links, some of them beyond the rows. */
static void test_links(void)
{
    static const uint64_t none[] = {0, 0, 0}, lives[9] = {0}, links[] = {0, 1, 1 << 3 | 4, 0},
                          number[] = {0, 8}; /* 0, and 4 more */
    const struct entry first[] = {{0, 100, 1000, 0, 10, TRACE_INTERVAL_SLEEP, 1}};
    struct strbuf sb = STRBUF_INIT;
    struct foldedtree f;
    struct waitlist w;
    char *off;

    begin_text(&sb);
    off = strstr(sb.buf, "# lanes: in off");
    strbuf_setlen(&sb, (size_t)(off - sb.buf));
    strbuf_addstr(&sb, "# lanes: links n=2 whole=0");
    add_packed(&sb, "woke", none, 3);
    add_packed(&sb, "same", none, 3);
    add_packed(&sb, "first", none, 3);
    add_packed(&sb, "lives", lives, 9);
    add_packed(&sb, "data", links, 4);
    strbuf_addstr(&sb, "\n# lanes: in chain app;a");
    add_packed(&sb, "rows", number, 2);
    strbuf_addch(&sb, '\n');
    add_waits(&sb, 0, first, 1);
    foldedtree_make(&f, sb.buf, sb.len, false);
    is_int((intmax_t)f.lanes.nof, 2, "numbers of links may be beyond the rows");
    ok(waitlist_init(&w, &f.tree, &f.lanes, false), "lanes with links have a list");
    ok(w.rows[0].node == FRAMETREE_NONE && !waitlist_any(&w), "a link is not taken for a row");
    strbuf_release(&sb);
    release(&f, &w);
}

int main(void)
{
    struct waitlist w;

    ok(!waitlist_init(&w, NULL, NULL, false), "without lanes there is no list");
    test_wakes();
    test_order();
    test_stacks();
    test_links();
    return done_testing();
}
