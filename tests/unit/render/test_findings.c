/* Findings, sentences about a tree: each rule where it applies and where it does not. */
#include "render/findings/findings.h"

#include <stdlib.h>

#include "tests/tap.h"

#define COLUMNS 8

static struct frametree tree;
static struct render_column columns[COLUMNS];
static struct render_options options;
static struct timeline history;
static struct findings found;

static char *word_of(const char *s, size_t len, const char *key)
{
    const char *value;
    size_t n;

    return folded_find_meta(s, len, key, &value, &n) ? strndup(value, n) : strdup("");
}

/* Folded text; each "# flame:" line begins another column. */
static void take(const char *text)
{
    uint32_t n = 0;

    frametree_init(&tree, false);
    options = (struct render_options){.columns = columns, .factor = 1};
    for (const char *s = text; *s; s += strcspn(s, "\n") + 1) {
        size_t len = strcspn(s, "\n");
        struct folded_line line;

        if (folded_parse_line(s, len, &line) == 1) {
            if (!n)
                columns[n++] =
                    (struct render_column){.name = strdup(""), .unit = strdup("samples")};
            frametree_use_column(&tree, n - 1);
            frametree_add(&tree, &line);
        } else {
            columns[n++] = (struct render_column){.name = word_of(s, len, "view"),
                                                  .unit = word_of(s, len, "unit")};
        }
    }
    options.ncolumns = n;
    frametree_finish(&tree);
}

static void release(void)
{
    findings_release(&found);
    frametree_release(&tree);
    for (size_t i = 0; i < options.ncolumns; i++) {
        free((char *)columns[i].name);
        free((char *)columns[i].unit);
    }
}

static const char *all_texts(void)
{
    static struct strbuf sb = STRBUF_INIT;

    strbuf_clear(&sb);
    strbuf_addstr(&sb, "");
    for (size_t i = 0; i < found.n; i++)
        strbuf_addf(&sb, "%s%s", i ? "\n" : "", found.f[i].text);
    return sb.len ? sb.buf : "";
}

static void says(const char *text, const char *want, const char *name)
{
    take(text);
    findings_make(&found, &tree, &options, true);
    is_str(all_texts(), want, "%s", name);
}

/* The name of the frame that a finding is about. */
static void is_at(size_t i, const char *name)
{
    const struct frametree_name *n;

    if (i >= found.n) {
        ok(false, "there is a finding %zu", i);
        return;
    }
    n = frametree_name(&tree, found.f[i].node);
    ok(n->len == strlen(name) && memcmp(n->s, name, n->len) == 0, "the finding is about %s", name);
}

static void test_owner(void)
{
    says("# flame: view=alloc unit=bytes\n"
         "a;main;parse p.c:3;xmalloc x.c:9;malloc 3072\n"
         "a;main;parse p.c:4;malloc 1024\n"
         "a;main;emit 1024\n",
         "parse (p.c:3) asks for most memory: 4.00 KiB of 5.00 KiB (80.00%)",
         "a function owns the bytes of its wrappers, over all its lines");
    is_at(0, "parse p.c:3");
    ok(found.f[0].nnames == 1, "a finding lists the function's other lines");
    release();
    says("# flame: view=peak unit=bytes\na;f 1\n# flame: view=live unit=bytes\na;f 1\n"
         "# flame: view=alloc unit=bytes\na;f 1\na;g 4\n",
         "f holds most at the peak: 1 byte of 1 byte (100.00%)\n"
         "g asks for most memory: 4 bytes of 5 bytes (80.00%)",
         "a function named for the peak is not named again for less");
    release();
    says("# flame: view=live unit=bytes\na;f 0\n", "", "a zero count gives no finding");
    release();
}

static void test_nobody(void)
{
    struct strbuf sb = STRBUF_INIT;

    strbuf_addstr(&sb, "# flame: view=live unit=bytes\n");
    for (int i = 0; i < 30; i++)
        strbuf_addf(&sb, "a;f%d 10\n", i);
    says(sb.buf, "", "many equal functions give no finding");
    release();
    strbuf_release(&sb);
}

static void test_leaks(void)
{
    const char *text = "# flame: view=live unit=bytes\na;f 2048\na;g 1024\na;h 1048576\n"
                       "# flame: view=definite unit=bytes\na;f 2048\na;g 1024\n"
                       "# flame: view=indirect unit=bytes\na;g 512\n"
                       "# flame: view=inner unit=bytes\na;g 16\n"
                       "# flame: view=reachable unit=bytes\na;h 1048576\n";

    says(text,
         "h holds most at the end: 1.00 MiB of 1.00 MiB (99.71%)\n"
         "Leaked: 3.00 KiB that nothing leads to, 66.67% of it by f, 512 bytes that only leaks "
         "lead to, 16 bytes reached by its inside only, 1.00 MiB still reachable",
         "leak classes are in one sentence, and a small leak comes last");
    is_at(1, "f");
    release();
    says(
        "# flame: view=leak unit=bytes\na;f 200000\n# flame: view=definite unit=bytes\na;f 200000\n"
        "# flame: view=live unit=bytes\na;f 200000\n",
        "Leaked: 195.3 KiB that nothing leads to, by f\n"
        "f holds most at the end: 195.3 KiB of 195.3 KiB (100.00%)",
        "a large leak comes first");
    release();
    says("# flame: view=leak unit=bytes\na;f 7\n# flame: view=definite unit=bytes\na;f 0\n",
         "f leaked most: 7 bytes of 7 bytes (100.00%)",
         "leaks without classes are a plain finding");
    release();
}

static void test_churn(void)
{
    says("# flame: view=count unit=calls\na;f 4000\na;g 1000\n"
         "# flame: view=temp unit=calls\na;f 3000\na;g 1000\n",
         "4,000 of 5,000 calls (80.00%) for blocks freed before their thread's next call, 75.00% "
         "of them in f\n"
         "f calls malloc most often: 4,000 of 5,000 calls (80.00%)",
         "many short-lived blocks give a finding");
    is_at(0, "f");
    release();
    says("# flame: view=count unit=calls\na;f 900000\n# flame: view=temp unit=calls\na;f 2000\n",
         "f calls malloc most often: 900,000 of 900,000 calls (100.00%)",
         "few short-lived blocks of many give no finding");
    release();
    says("# flame: view=temp unit=calls\na;f 900\n", "", "few short-lived blocks give no finding");
    release();
    says("# flame: view=alloc unit=bytes\na;f 40000000\na;g 1000\n"
         "# flame: view=peak unit=bytes\na;g 1000\na;f 1000\n",
         "f holds most at the peak: 1,000 bytes of 1.95 KiB (50.00%)\n"
         "38.15 MiB were asked for in all, 20000 times what there was at the peak, 100.00% of it "
         "by f",
         "much more allocated than the peak gives a finding");
    release();
}

static void test_untouched(void)
{
    says("# flame: view=live unit=bytes\na;f 4194304\na;g 1048576\n"
         "# flame: view=rss unit=bytes\na;f 4096\na;g 1048576\n",
         "f holds most at the end: 4.00 MiB of 5.00 MiB (80.00%)\n"
         "4.00 MiB of 5.00 MiB (79.92%) live at the end were asked for and are not resident, by f",
         "live blocks that are not resident give a finding");
    is_at(1, "f");
    release();
    says("# flame: view=live unit=bytes\na;f 4194304\na;g 1048576\na;h 8388608\n"
         "# flame: view=rss unit=bytes\na;f 4096\na;g 1048576\na;h;[huge pages] 4194304\n"
         "a;h;[shared with another process] 4194304\na;i;[huge pages] 4194304\n",
         "h holds most at the end: 8.00 MiB of 13.00 MiB (61.54%)\n"
         "4.00 MiB of 13.00 MiB (30.74%) live at the end were asked for and are not resident, by f",
         "kinds of pages belong to the stacks below them");
    release();
    says("# flame: view=live unit=bytes\na;f 4194304\n# flame: view=rss unit=bytes\na;f 4096\n"
         "# flame: view=swap unit=bytes\na;f 4190208\n",
         "f holds most at the end: 4.00 MiB of 4.00 MiB (100.00%)",
         "live blocks that are swapped out give no finding");
    release();
}

static void test_stacks(void)
{
    struct strbuf sb = STRBUF_INIT;

    for (int i = 0; i < 40; i++)
        strbuf_addf(&sb, "main;rest;f%d 1\n", i);
    strbuf_addstr(&sb, "main;work;a 200\nmain;work;b 100\n");
    says(sb.buf,
         "a takes most itself: 200 of 340 samples (58.82%)\n"
         "Two stacks of 42 are 88.24% of all, 300 samples: the largest ends in a",
         "few stacks with most samples give a finding");
    is_at(1, "work");
    ok(found.n > 1 && found.f[1].nnames == 2, "a finding about two stacks lists both");
    release();
    strbuf_release(&sb);
    says("main;f;f;f;g 6\nmain;h 4\n",
         "g takes most itself: 6 of 10 samples (60.00%)\nf calls itself, up to 3 deep, in 60.00% "
         "of all",
         "a function that calls itself gives a finding");
    is_at(1, "f");
    release();
    says("main;f;f;g 6\nmain;f;f;f 1\nmain;h 93\n",
         "h takes most itself: 93 of 100 samples (93.00%)",
         "a function that seldom calls itself gives no finding");
    release();
    says("main;???;???;???;g 6\n", "g takes most itself: 6 of 6 samples (100.00%)",
         "frames without a name are no recursive function");
    release();
}

static void test_compare(void)
{
    says(
        "a;f 1000 5000\na;g 1000 2000\na;h 3000 2500\n",
        "f grew by 4,000 samples, 80.00% of what grew; in all from 5,000 samples to 9,500 samples\n"
        "h shrank by 500 samples, 100.00% of what shrank; in all from 5,000 samples to 9,500 "
        "samples",
        "a comparison names the largest growth and the largest fall");
    is_at(0, "f");
    release();
    says("a;f 1000 1000\na;g 1000 1000\n", "", "a comparison of equal runs gives no finding");
    release();
    says("a;x;f 1000 0\na;y;f 0 1000\na;g 5 8\n",
         "g grew by 3 samples, 100.00% of what grew; in all from 1,005 samples to 1,008 samples",
         "a function that moved has not grown");
    release();
    take("a;f 1000 5000\na;g 4000 1000\n");
    difference_apply(&tree, DIFFERENCE_ELIDED);
    findings_make(&found, &tree, &options, false);
    is_str(all_texts(),
           "f grew by 4,000 samples, 100.00% of what grew; in all from 5,000 samples to 6,000 "
           "samples\n"
           "g shrank by 3,000 samples, 100.00% of what shrank; in all from 5,000 samples to 6,000 "
           "samples",
           "a comparison's picture of either side gives equal findings");
    release();
}

static void test_waits(void)
{
    says("# flame: view=off unit=us\n"
         "w;start_thread;log l.c:7;__write;write /tmp/x 3000000\n"
         "w;start_thread;log l.c:7;fsync;fsync /tmp/x 4000000\n"
         "w;start_thread;other;read;read socket:[*] 1000000\n"
         "w;start_thread;loop;epoll_wait;epoll_wait 90000000\n"
         "sh;main;run;wait4 child 20000000\nsh;main;run;read pipe:[1] 10000000\n",
         "Blocked longest is log (l.c:7): 7.00 s, 5.47% of all blocked time, most in fsync /tmp/x\n"
         "Waited for work or for others: 90.00 s, 70.31% of all blocked time, in loop by "
         "epoll_wait\n"
         "Waited for its children: 20.00 s, 15.63% of all blocked time, in run by wait4 child\n"
         "Waited for what its children print: 10.00 s, 7.81% of all blocked time, in run by read "
         "pipe:[1]",
         "waits for work and for children come behind the program's own waits");
    is_at(0, "log l.c:7");
    ok(found.n == 4 && !found.f[0].structural && found.f[1].structural,
       "waits for work and for children are marked as structural");
    release();
    says("# flame: view=off unit=us\nx;main;f;read pipe:[1] 10\n",
         "Blocked longest is f: 10 \xc2\xb5s, 100.00% of all blocked time, in read pipe:[1]",
         "a pipe of a program without children is an ordinary wait");
    release();
    says("# flame: view=critical unit=us\n"
         "app;[running] 9000\napp;[stopped by the tracer] 700\napp;main;log;fsync /tmp/x 300\n",
         "On the critical path the longest wait is log: 300 \xc2\xb5s, 100.00% of all waiting on "
         "it, "
         "in fsync /tmp/x",
         "the critical path's running and stopped time is no wait");
    release();
    says("# flame: view=off unit=us\nx;main;f;pthread_join;futex [stack] 10\n"
         "x;main;get;pthread_cond_wait;futex g_queue 30\n",
         "Waited for work or for others: 30 \xc2\xb5s, 75.00% of all blocked time, in get by futex "
         "g_queue\n"
         "Waited for its threads to end: 10 \xc2\xb5s, 25.00% of all blocked time, in f by futex "
         "[stack]",
         "waits for work and for threads alone are structural");
    release();
    says("# flame: view=wakeup unit=us\nfront;clone;unlock;back 500\n[timer];x 900\nfront;exit;x "
         "100\n",
         "front ended most of the waiting: 600 \xc2\xb5s of 1.50 ms (40.00%)",
         "the largest waker is named, without waits that ended by themselves");
    release();
    says("# flame: view=runq unit=us\na;f 500\n# flame: view=oncpu unit=us\na;f 500\n",
         "Threads that could run waited for a CPU 500 \xc2\xb5s and ran 500 \xc2\xb5s: more was to "
         "be done "
         "than there were processors for\n"
         "f has most of it: 500 \xc2\xb5s of 500 \xc2\xb5s (100.00%)",
         "run-queue waits as long as CPU time give a finding");
    release();
    says("# flame: view=runq unit=us\na;f 100\n# flame: view=oncpu unit=us\na;f 5000\n",
         "f has most of it: 100 \xc2\xb5s of 100 \xc2\xb5s (100.00%)",
         "short run-queue waits give no finding");
    release();
}

static void test_lock(void)
{
    const char *chain = "a;start_thread;work;pthread_mutex_lock;futex g_lock;--;futex g_lock;"
                        "pthread_mutex_unlock;hold;start_thread;b_[w];--;[timer];nanosleep;hold;"
                        "start_thread;b_[w] 2000000\n";
    struct strbuf sb = STRBUF_INIT;

    strbuf_addstr(&sb, "# flame: view=off unit=us\n"
                       "a;start_thread;work;pthread_mutex_lock;futex g_lock 2000000\n"
                       "# flame: view=chain unit=us\n");
    strbuf_addstr(&sb, chain);
    says(sb.buf,
         "The lock most waited for is futex g_lock, 2.00 s, of that 2.00 s until b in hold gave it "
         "back; behind that: nanosleep of b in hold, 2.00 s of it",
         "a lock is named with its holder and that one's own wait");
    is_at(0, "work");
    ok(found.n && found.f[0].column == 1, "a lock's finding is shown in the column of chains");
    release();
    says("# flame: view=off unit=us\na;work l.c:3;pthread_mutex_lock;futex g_lock 2000000\n",
         "The lock most waited for is futex g_lock, 2.00 s",
         "a lock without a chain is named alone");
    release();
    says("# flame: view=off unit=us\na;main;await unlock.c:3;futex g_word 2000000\n",
         "Blocked longest is await (unlock.c:3): 2.00 s, 100.00% of all blocked time, in futex "
         "g_word",
         "a file named like a lock is no lock");
    release();
    strbuf_release(&sb);
}

static void first_view_is(const char *text, const char *asked, bool silent, const char *want,
                          const char *name)
{
    const char *view;

    take(text);
    options.view = asked;
    options.no_findings = silent;
    findings_make(&found, &tree, &options, true);
    view = findings_first_view(&found, &tree, &options);
    is_str(view ? view : "", want, "%s", name);
    release();
}

#define OFF "# flame: view=off unit=us\n"
#define CHAIN "# flame: view=chain unit=us\n"
#define LOCKED "a;work;pthread_mutex_lock;futex g_lock"
#define GIVEN ";--;futex g_lock;unlock;b_[w]"
#define SLEPT "a;rest;nanosleep 1000\n"

static void test_first_view(void)
{
    const char *locked = OFF LOCKED " 900\n" SLEPT CHAIN LOCKED GIVEN " 900\n" SLEPT;

    first_view_is(locked, NULL, false, "chain", "a page with a contended lock begins with chains");
    first_view_is(locked, NULL, true, "chain", "a page without sentences begins with chains, too");
    first_view_is(locked, "off", false, "off", "the view that is asked for is the first");
    first_view_is(OFF SLEPT CHAIN SLEPT, NULL, false, "",
                  "a page without a lock begins with its first view");
    first_view_is(OFF LOCKED " 9\n" SLEPT CHAIN LOCKED GIVEN " 9\n" SLEPT, NULL, false, "",
                  "a lock that no finding names does not change the first view");
    first_view_is("# flame: view=alloc unit=bytes\na;f 9\n" OFF LOCKED " 900\n" CHAIN LOCKED GIVEN
                  " 900\n",
                  NULL, false, "", "memory comes before a lock");
    first_view_is(OFF LOCKED " 900\n", NULL, false, "off", "without chains the first view remains");
    first_view_is("a;f 3\n", NULL, false, "", "other counts have no first view of their own");
}

/* A history of live bytes in which `f` and `g` change in each tenth of a second. */
static void grow(const int64_t *f, const int64_t *g, size_t n)
{
    static struct timeline_moment moments[32];
    static struct timeline_history of[2];
    static struct timeline_change changes[64];
    uint32_t at[2];

    take("# flame: view=live unit=bytes\na;f 9000\na;g 100000\n");
    frametree_release(&tree);
    frametree_init(&tree, false);
    frametree_place(&tree, "a;f", 3, &at[0]);
    frametree_place(&tree, "a;g", 3, &at[1]);
    frametree_finish(&tree);
    for (size_t i = 0; i < n; i++) {
        moments[i] = (struct timeline_moment){.us = 100000 * i};
        changes[i] = (struct timeline_change){i, f[i]};
        changes[n + i] = (struct timeline_change){i, g[i]};
    }
    of[0] = (struct timeline_history){TIMELINE_LIVE, at[0], 0, n};
    of[1] = (struct timeline_history){TIMELINE_LIVE, at[1], n, n};
    history = (struct timeline){
        .moments = moments, .n = n, .histories = of, .nhistories = 2, .changes = changes};
    options.timeline = &history;
    findings_make(&found, &tree, &options, true);
}

static void test_growth(void)
{
    static const int64_t steady[9] = {5000, 5000, 5000, 5000, 5000, 5000, 5000, 5000, 5000},
                         start[9] = {100000, 20000, 0, 0, 0, 0, 0, 0, 0},
                         once[9] = {0, 0, 0, 0, 50000, 0, 0, 0, 0},
                         wave[9] = {9000, 9000, -9000, 9000, -9000, 9000, -9000, 9000, 9000};

    grow(steady, start, 9);
    is_str(all_texts(), "f grows steadily: from 9.77 KiB at 200.0 ms to 43.95 KiB at 800.0 ms",
           "steady growth after the start gives a finding");
    is_at(0, "f");
    ok(found.n && found.f[0].timed && found.f[0].from_us == 200000 && found.f[0].to_us == 800000,
       "a finding of growth has its time");
    release();
    grow(start, once, 9);
    is_str(all_texts(), "", "growth at the start or in one step gives no finding");
    release();
    grow(wave, start, 9);
    is_str(all_texts(), "", "growth that comes and goes gives no finding");
    release();
    grow(steady, start, 5);
    is_str(all_texts(), "", "few moments give no finding");
    release();
}

static void test_hostile(void)
{
    says("\x1b[31mx\xff"
         "y;a<b>\"\t 7\n",
         "a<b>\"  takes most itself: 7 of 7 samples (100.00%)",
         "hostile names are one line of clean text");
    release();
    says("# flame: view=live unit=bytes\n;; 5\n", "", "frames without a name give no finding");
    release();
    take("a;f 3\n");
    options.no_findings = true;
    findings_make(&found, &tree, &options, true);
    is_int((intmax_t)found.n, 0, "no_findings gives no finding");
    release();
    take("a;f 3\n");
    options.reverse = true;
    findings_make(&found, &tree, &options, false);
    is_int((intmax_t)found.n, 0, "reversed stacks give no finding");
    release();
    says("", "", "an empty text gives no finding");
    release();
}

int main(void)
{
    test_owner();
    test_nobody();
    test_leaks();
    test_churn();
    test_untouched();
    test_stacks();
    test_compare();
    test_waits();
    test_lock();
    test_first_view();
    test_growth();
    test_hostile();
    return done_testing();
}
