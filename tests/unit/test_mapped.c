/* The program's own mappings, against one flag for each page. */
#include <pthread.h>
#include <sched.h>
#include <sys/wait.h>
#include <unistd.h>

#include "preload/leak/mapped.h"
#include "tests/tap.h"

#define PAGES 200
#define PAGE ((uintptr_t)4096)
#define BASE ((uintptr_t)1 << 40)

static bool model[PAGES];
static size_t wrong;
static uintptr_t last;
static bool seen[PAGES];

static void note(uintptr_t lo, uintptr_t hi, void *arg)
{
    (void)arg;
    wrong += lo < last || lo >= hi;
    last = hi;
    for (uintptr_t at = lo; at < hi; at += PAGE)
        seen[(at - BASE) / PAGE] = true;
}

static bool same(void)
{
    wrong = 0;
    last = 0;
    memset(seen, 0, sizeof seen);
    mapped_each(note, NULL);
    return wrong == 0 && memcmp(seen, model, sizeof model) == 0;
}

static bool begun, done;

static void *adds(void *unused)
{
    (void)unused;
    __atomic_store_n(&begun, true, __ATOMIC_SEQ_CST);
    mapped_add(BASE, PAGE);
    __atomic_store_n(&done, true, __ATOMIC_SEQ_CST);
    return NULL;
}

static void test_hold(void)
{
    pthread_t t;

    mapped_hold();
    pthread_create(&t, NULL, adds, NULL);
    while (!__atomic_load_n(&begun, __ATOMIC_SEQ_CST))
        sched_yield();
    for (int i = 0; i < 1000; i++)
        sched_yield();
    ok(!__atomic_load_n(&done, __ATOMIC_SEQ_CST), "who wants to change what is held waits");
    mapped_let_go();
    pthread_join(t, NULL);
    ok(done, "until it is let go");
}

static void test_fork(void)
{
    int status;
    pid_t child;

    mapped_hold();
    child = fork();
    if (child == 0) {
        mapped_after_fork();
        mapped_add(BASE, PAGE); /* nobody holds it here */
        _exit(mapped_incomplete() ? 7 : 8);
    }
    mapped_let_go();
    is_int(waitpid(child, &status, 0), child, "a fork in the middle of a change");
    is_int(WEXITSTATUS(status), 7, "is one whose child does not know it all");
    ok(!mapped_incomplete(), "the parent does");
}

/* Every other page, so that no two are one piece. */
static void test_too_many(void)
{
    mapped_remove(BASE, PAGES * PAGE);
    for (uintptr_t i = 0; i < MAPPED_MAX; i++)
        mapped_add(BASE + 2 * i * PAGE, PAGE);
    ok(!mapped_incomplete(), "as many as there may be");
    mapped_add(BASE + 2 * MAPPED_MAX * PAGE, PAGE);
    ok(mapped_incomplete(), "one more is not kept");
    mapped_remove(BASE, 2 * MAPPED_MAX * PAGE);
    ok(mapped_incomplete(), "and that is not forgotten");
}

int main(void)
{
    uint32_t state = 7, rounds = 20000, good = 0;

    for (uint32_t i = 0; i < rounds; i++) {
        uint32_t at, n;

        state = state * 1664525 + 1013904223;
        at = (state >> 8) % PAGES;
        n = 1 + (state >> 20) % 17;
        if (at + n > PAGES)
            n = PAGES - at;
        for (uint32_t p = at; p < at + n; p++)
            model[p] = state >> 31;
        /* A length need not be whole pages. */
        (state >> 31 ? mapped_add : mapped_remove)(BASE + at * PAGE,
                                                   n * PAGE - (state >> 7 & 1) * 100);
        good += same();
    }
    is_int(good, rounds, "after each of many calls");
    ok(!mapped_incomplete(), "nothing was lost");
    mapped_after_fork();
    ok(!mapped_incomplete(), "nor by a fork at rest");
    test_hold();
    test_fork();
    test_too_many();
    return done_testing();
}
