/*
 * forks N [PROGRAM]: what a child costs. Keeps 1,000 blocks from some fifty stacks, then has
 * N children, one after the other; each allocates ten blocks and ends, or executes PROGRAM.
 * Prints nanoseconds a child: of CPU, its own and the child's, and by the clock.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define KEPT 1000

static void *volatile blocks[KEPT];
static volatile int sink;

/* A stack for each number below 64. */
static void __attribute__((noinline)) keep(unsigned way, unsigned depth, int block)
{
    if (depth == 0)
        blocks[block] = malloc(100);
    else if (way & 1)
        keep(way >> 1, depth - 1, block);
    else
        keep(way >> 1, depth - 1, block), sink++;
    sink++;
}

static uint64_t cpu_of(int who)
{
    struct rusage u;

    getrusage(who, &u);
    return ((uint64_t)u.ru_utime.tv_sec + (uint64_t)u.ru_stime.tv_sec) * 1000000000u +
           ((uint64_t)u.ru_utime.tv_usec + (uint64_t)u.ru_stime.tv_usec) * 1000u;
}

static uint64_t cpu_ns(void)
{
    return cpu_of(RUSAGE_SELF) + cpu_of(RUSAGE_CHILDREN);
}

static uint64_t clock_ns(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static void child(char *program)
{
    char *argv[] = {program, NULL};

    if (program)
        execv(program, argv);
    for (int i = 0; i < 10; i++)
        blocks[i] = malloc(1000);
    _exit(program ? 127 : 0);
}

int main(int argc, char **argv)
{
    int n = argc > 1 ? atoi(argv[1]) : 1, status;
    uint64_t cpu, start;

    for (int i = 0; i < KEPT; i++)
        keep((unsigned)i, 6, i);
    cpu = cpu_ns();
    start = clock_ns();
    for (int i = 0; i < n; i++) {
        pid_t pid = fork();

        if (pid == 0)
            child(argc > 2 ? argv[2] : NULL);
        if (pid < 0 || waitpid(pid, &status, 0) != pid || status != 0)
            return 1;
    }
    printf("%.0f %.0f\n", (double)(cpu_ns() - cpu) / n, (double)(clock_ns() - start) / n);
    return 0;
}
