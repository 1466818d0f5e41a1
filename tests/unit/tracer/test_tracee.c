/* test_tracee.c: threads by their tid, also when exec gives a thread another's, and when the
 * kernel gives a tid out again. */
#include "tracer/tracee.h"

#include <stdlib.h>
#include <unistd.h>

#include "tests/tap.h"

#define THREADS 3000 /* more than one to a hash chain */

static char path[] = "/tmp/flame-test-XXXXXX";

static struct tracee *begin(struct tracees *ts, pid_t tid, pid_t pid, const struct tracee *parent)
{
    struct off_event e = {
        .kind = OFF_THREAD_BEGIN, .tid = tid, .pid = pid, .newborn = true, .args = {0x10f00}};

    return tracee_new(ts, &e, parent);
}

static void test_many(struct tracees *ts)
{
    static struct tracee *made[THREADS];
    size_t wrong = 0, listed = 0;
    struct tracee *leader = begin(ts, getpid(), getpid(), NULL);

    for (pid_t i = 0; i < THREADS; i++)
        made[i] = begin(ts, 5000000 + i, getpid(), leader);
    for (pid_t i = 0; i < THREADS; i++)
        wrong += WRONG(tracee_find(ts, 5000000 + i) != made[i], i);
    is_int((intmax_t)wrong, 0, "tracee_find finds each thread by its tid");
    is_int((intmax_t)leader->process->threads, THREADS + 1, "a process counts its threads");
    for (pid_t i = 0; i < THREADS; i += 2)
        tracee_free(ts, made[i]);
    for (pid_t i = 0; i < THREADS; i++)
        wrong += WRONG(tracee_find(ts, 5000000 + i) != (i % 2 ? made[i] : NULL), i);
    is_int((intmax_t)wrong, 0, "tracee_find finds live threads and no ended ones");
    for (const struct tracee *t = tracees_first(ts); t; t = t->next)
        listed++;
    is_int((intmax_t)listed, THREADS / 2 + 1, "the list holds live threads only");
    ok(!tracee_find(ts, 1), "tracee_find does not find an unused tid");
}

static void test_exec(struct tracees *ts)
{
    struct tracee *leader = tracee_find(ts, getpid()), *caller = tracee_find(ts, 5000001);

    tracee_exec(ts, leader);
    ok(tracee_find(ts, getpid()) == leader, "after exec the leader's tid is still the leader");
    ok(tracee_find(ts, 5000001) == caller, "the thread that called exec is found until its end");
    tracee_free(ts, caller);
    ok(!tracee_find(ts, 5000001), "the thread that called exec is not found after its end");
}

static void test_again(struct tracees *ts)
{
    struct tracee *leader = tracee_find(ts, getpid()), *other;
    unsigned threads = leader->process->threads;

    other = begin(ts, 5000003, getpid(), leader);
    ok(tracee_find(ts, 5000003) == other, "a reused tid finds the new thread");
    is_int((intmax_t)leader->process->threads, threads,
           "a reused tid does not count its former thread");
}

int main(void)
{
    struct offtrace_init init = {.path = path, .pid = getpid(), .depth = 128};
    struct offtrace *to;
    struct spaces *spaces;
    struct tracees *ts;

    close(mkstemp(path));
    unlink(path);
    to = offtrace_new(&init);
    spaces = spaces_new(to);
    ts = tracees_new(spaces);
    test_many(ts);
    test_exec(ts);
    test_again(ts);
    tracees_free(ts);
    spaces_free(spaces);
    offtrace_free(to);
    unlink(path);
    return done_testing();
}
