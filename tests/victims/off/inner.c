/* Sleeps in signal handlers that interrupt a sleep, and writes to a pipe in them. */
#include <signal.h>
#include <string.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#include "tests/victims/off/truth.h"

static int ends[2], hits;

static uint64_t now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static void inner(int sig)
{
    struct timespec t = {0, 2000000};
    uint64_t cpu = truth_cpu(), begin = now();
    char c;

    (void)sig;
    hits++;
    nanosleep(&t, NULL);
    truth(TRUTH_ANY, begin, now(), cpu);
    if (write(ends[1], "x", 1) != 1 || read(ends[0], &c, 1) != 1)
        _exit(1);
}

int main(void)
{
    struct itimerval every = {{0, 20000}, {0, 20000}};
    struct timespec t = {0, 300000000};
    struct sigaction act;
    uint64_t begin, cpu;

    memset(&act, 0, sizeof act);
    act.sa_handler = inner;
    if (pipe(ends))
        return 1;
    sigaction(SIGALRM, &act, NULL);
    setitimer(ITIMER_REAL, &every, NULL);
    cpu = truth_cpu();
    begin = now();
    while (nanosleep(&t, &t))
        ;
    truth(TRUTH_ANY, begin, now(), cpu);
    return hits < 3;
}
