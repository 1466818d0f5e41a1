/* The process's own page faults, address by address, and how many there was no room for. */
#define _GNU_SOURCE
#include "preload/firsttouch/faultrings.h"

#include <errno.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/tap.h"

#define PAGE ((size_t)4096)
#define MANY ((size_t)200000)

static struct faultrings rings;

struct seen {
    uintptr_t lo, hi;
    uint64_t within, lost, by_stack;
};

static void see(const struct touched *t, void *arg)
{
    struct seen *s = arg;

    s->lost += t->lost;
    if (t->lost || t->addr < s->lo || t->addr >= s->hi)
        return;
    s->within++;
    s->by_stack += t->sp != 0;
}

static char *make(size_t n)
{
    char *p = mmap(NULL, n * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    madvise(p, n * PAGE, MADV_NOHUGEPAGE);
    return p;
}

static struct seen look_at(const char *p, size_t n)
{
    struct seen s = {.lo = (uintptr_t)p, .hi = (uintptr_t)p + n * PAGE};

    faultrings_read(&rings, see, &s);
    return s;
}

static void touch(char *p, size_t n)
{
    for (size_t i = 0; i < n; i++)
        *(volatile char *)(p + i * PAGE + 17) = 1;
}

static void *touch_100(void *p)
{
    touch(p, 100);
    return NULL;
}

static void test_known(void)
{
    char *p = make(100);
    pthread_t thread;
    struct seen s;
    pid_t child;

    look_at(p, 100);
    touch(p, 100);
    ok(faultrings_any(&rings), "the rings have records after page faults");
    s = look_at(p, 100);
    is_int(s.within, 100, "each fault is read with its address");
    is_int(s.by_stack, 100, "each fault is read with its stack pointer");
    touch(p, 100);
    is_int(look_at(p, 100).within, 0, "a resident page causes no fault");

    p = make(100);
    ok(pthread_create(&thread, NULL, touch_100, p) == 0 && pthread_join(thread, NULL) == 0,
       "a thread is created and joined");
    is_int(look_at(p, 100).within, 100, "another thread's faults are read");

    p = make(100);
    child = fork();
    if (child == 0) {
        touch(p, 100);
        _exit(0);
    }
    waitpid(child, NULL, 0);
    is_int(look_at(p, 100).within, 0, "a child process's faults are not read");
}

/* All in one go, and read when the kernel had no room for long. */
static void test_lost(void)
{
    char *p = make(MANY);
    struct seen s, rest;

    look_at(p, MANY);
    touch(p, MANY);
    ok(faultrings_many(&rings), "faultrings_many reports nearly full rings");
    s = look_at(p, MANY);
    ok(s.within > 0 && s.within < MANY, "some faults are lost in full rings");
    ok(!faultrings_many(&rings), "faultrings_many reports room again after a read");
    faultrings_press(&rings);
    rest = look_at(p, MANY);
    /* The upper bound allows for the test's other faults, as on its stack, and for those of
     * AddressSanitizer: one page of its shadow for eight of these. */
    ok(s.within + s.lost + rest.lost >= MANY &&
           s.within + s.lost + rest.lost <= MANY + MANY / 8 + 1000,
       "lost faults are counted");
    munmap(p, MANY * PAGE);
}

int main(void)
{
    long err = faultrings_open(&rings, (uint32_t)sysconf(_SC_NPROCESSORS_CONF));

    if (err) {
        skip_key("perf-sched", "the kernel reports no page faults here");
        return done_testing();
    }
    test_known();
    test_lost();
    ok(faultrings_hold(&rings, (uintptr_t)rings.rings[0].page + 5000),
       "an address within a ring belongs to the rings");
    ok(!faultrings_hold(&rings, (uintptr_t)&rings),
       "an address outside the rings does not belong to them");
    faultrings_forget(&rings);
    ok(!faultrings_any(&rings), "forgotten rings have no records");
    is_int(faultrings_open(&rings, 0), -EINVAL, "faultrings_open refuses 0 CPUs");
    return done_testing();
}
