/*
 * truth.h: a program's own record of its sleeps, for tests/corpus/events. With TRUTH=FILE in its
 * environment it writes a line for each when it ends,
 *
 *     truth TID BY BEGIN FROM TO END CPU
 *
 * Times are CLOCK_MONOTONIC, ns. Somewhere between BEGIN and END the thread TID slept in calls,
 * until BY ended that: the number of a thread or process, "[timer]", or "any", of any waker.
 * Between FROM and TO it was in such a call, or awake. END 0: until its own end. CPU: how long it
 * ran meanwhile, by its CPU clock, ns; "?" if that was not measured. Without TRUTH nothing is
 * recorded. Holds up to 1000 sleeps, in one source file of the program.
 */
#ifndef FLAME_TESTS_VICTIMS_OFF_TRUTH_H
#define FLAME_TESTS_VICTIMS_OFF_TRUTH_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { TRUTH_ANY = 0, TRUTH_TIMER = -1, TRUTH_MOST = 1000 };
#define TRUTH_NO_CPU UINT64_MAX

static struct {
    int tid, by;
    uint64_t begin, from, to, end, cpu;
} truths[TRUTH_MOST];
static int ntruths;

static inline int truth_self(void)
{
    return getenv("TRUTH") ? (int)syscall(SYS_gettid) : 0;
}

/* The caller's CPU time. */
static inline uint64_t truth_cpu(void)
{
    struct timespec t = {0, 0};

    if (getenv("TRUTH"))
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static inline void truth_between(int tid, int by, uint64_t begin, uint64_t from, uint64_t to,
                                 uint64_t end, uint64_t cpu)
{
    int i = getenv("TRUTH") ? __atomic_fetch_add(&ntruths, 1, __ATOMIC_RELAXED) : TRUTH_MOST;

    if (i >= TRUTH_MOST)
        return;
    truths[i].tid = tid;
    truths[i].by = by;
    truths[i].begin = begin;
    truths[i].from = from;
    truths[i].to = to;
    truths[i].end = end;
    truths[i].cpu = cpu;
}

/* `cpu`: truth_cpu() before `begin`. */
static inline void truth(int by, uint64_t begin, uint64_t end, uint64_t cpu)
{
    truth_between(truth_self(), by, begin, begin, end, end, truth_cpu() - cpu);
}

/* Appends the sleeps that are not written yet. A process that ends without exit() calls it. */
__attribute__((destructor)) static void truth_write(void)
{
    const char *path = getenv("TRUTH");
    FILE *f = path && ntruths ? fopen(path, "a") : NULL;

    for (int i = 0; f && i < ntruths && i < TRUTH_MOST; i++) {
        char by[16], cpu[32] = "?";

        snprintf(by, sizeof by,
                 truths[i].by > 0 ? "%d"
                 : truths[i].by   ? "[timer]"
                                  : "any",
                 truths[i].by);
        if (truths[i].cpu != TRUTH_NO_CPU)
            snprintf(cpu, sizeof cpu, "%llu", (unsigned long long)truths[i].cpu);
        fprintf(f, "truth %d %s %llu %llu %llu %llu %s\n", truths[i].tid, by,
                (unsigned long long)truths[i].begin, (unsigned long long)truths[i].from,
                (unsigned long long)truths[i].to, (unsigned long long)truths[i].end, cpu);
    }
    ntruths = 0;
    if (f)
        fclose(f);
}

#endif
