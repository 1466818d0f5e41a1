/* When a sleeping thread fell asleep, by the scheduler's own records. */
#define _GNU_SOURCE
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "tests/tap.h"
#include "tracer/objects/sleep_since.h"

#define MOMENT_NS 1000000u /* from the last look at the clock into the sleep */

static uint64_t now_ns(void)
{
    struct timespec ts;

    clock_gettime(CLOCK_MONOTONIC, &ts);
    return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

static void nothing(int sig)
{
    (void)sig;
}

static char state_of(pid_t pid)
{
    char path[64], state = 0;
    FILE *f;

    snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
    f = fopen(path, "r");
    if (f && fscanf(f, "%*d %*s %c", &state) != 1)
        state = 0;
    if (f)
        fclose(f);
    return state;
}

/* Waits until the child reports a new time before its sleep, and sleeps. */
static bool falls_asleep(pid_t pid, const volatile uint64_t *before, uint64_t was)
{
    for (int i = 0; i < 60000; i++) {
        if (*before != was && state_of(pid) == 'S')
            return true;
        usleep(1000);
    }
    return false;
}

/* Wakes the process, and waits until it sleeps again. */
static bool wake(pid_t pid, const volatile uint64_t *before)
{
    uint64_t was = *before;

    kill(pid, SIGUSR1);
    return falls_asleep(pid, before, was);
}

#define HOGS 6
#define VISITS 150

/* Takes the CPU for 2 ms, again and again, from any thread that has it. */
static void hog(void)
{
    for (uint64_t until;;) {
        until = now_ns() + 2000000u;
        while (now_ns() < until)
            ;
        usleep(100);
    }
}

/* On a CPU that others want as well, a visit is put off it between any two of its steps. */
static void test_busy(pid_t pid, const volatile uint64_t *before)
{
    cpu_set_t all, here;
    pid_t hogs[HOGS];
    int early = 0, known = 0;

    sched_getaffinity(0, sizeof all, &all);
    CPU_ZERO(&here);
    for (int cpu = 0; !CPU_COUNT(&here); cpu++)
        if (CPU_ISSET(cpu, &all))
            CPU_SET(cpu, &here);
    sched_setaffinity(pid, sizeof here, &here);
    wake(pid, before);
    for (int i = 0; i < HOGS; i++) {
        hogs[i] = fork();
        if (hogs[i] == 0) {
            alarm(60);
            sched_setaffinity(0, sizeof here, &here);
            hog();
        }
    }
    for (int i = 0; i < VISITS; i++) {
        struct sleep_since *l = sleep_since_new();
        uint64_t when;

        if (sleep_since_ns(l, pid, true, &when)) {
            known++;
            early += when + MOMENT_NS < *before;
        }
        sleep_since_free(l);
    }
    for (int i = 0; i < HOGS; i++) {
        kill(hogs[i], SIGKILL);
        waitpid(hogs[i], NULL, 0);
    }
    sched_setaffinity(pid, sizeof all, &all);
    is_int(early, 0, "no reading on a busy CPU is earlier than the sleep, in %d readings", known);
}

int main(void)
{
    volatile uint64_t *before =
        mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    struct sleep_since *l = sleep_since_new();
    uint64_t when = 0, again = 0;
    cpu_set_t was, is;
    pid_t pid = fork();

    if (pid == 0) {
        signal(SIGUSR1, nothing);
        for (;;) {
            *before = now_ns();
            pause();
        }
    }
    ok(falls_asleep(pid, before, 0), "test setup: the child sleeps");
    sched_getaffinity(0, sizeof was, &was);
    if (access("/proc/self/sched", R_OK) != 0) {
        ok(!sleep_since_ns(l, pid, true, &when),
           "sleep_since_ns fails on a kernel without /proc/PID/sched");
    } else {
        ok(!sleep_since_ns(l, pid, false, &when),
           "sleep_since_ns fails for a CPU that was not visited");
        ok(sleep_since_ns(l, pid, true, &when), "sleep_since_ns visits the CPU if allowed");
        ok(sleep_since_ns(l, pid, false, &again), "sleep_since_ns needs no second visit of a CPU");
        /* On a busy machine the child may have been put off its CPU between the two. */
        ok(when + MOMENT_NS > *before && when < now_ns() && again + MOMENT_NS > *before,
           "the reported time is not before the child fell asleep (%+d us)",
           (int)((int64_t)(when - *before) / 1000));
        ok((when > again ? when - again : again - when) < MOMENT_NS,
           "two readings report one time");
    }
    if (access("/proc/self/sched", R_OK) == 0) {
        ok(wake(pid, before), "test setup: the child wakes and sleeps again");
        ok(!sleep_since_ns(l, pid, false, &when),
           "a sleep after the visit is not known without another visit");
        ok(sleep_since_ns(l, pid, true, &when),
           "a sleep after the visit is known by another visit");
        ok(when + MOMENT_NS > *before && when < now_ns(),
           "the reported time of the second sleep is not before it (%+d us)",
           (int)((int64_t)(when - *before) / 1000));
        test_busy(pid, before);
    }
    sched_getaffinity(0, sizeof is, &is);
    ok(CPU_EQUAL(&was, &is), "the caller's CPU affinity is restored");
    kill(pid, SIGKILL);
    waitpid(pid, NULL, 0);
    ok(!sleep_since_ns(l, pid, true, &when), "sleep_since_ns fails for an ended process");
    sleep_since_free(l);
    return done_testing();
}
