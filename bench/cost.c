/*
 * cost FILE COMMAND ARG...: runs COMMAND and writes one line to FILE: its exit status (minus the
 * signal that ended it), microseconds of user and system time with those of the children it waited
 * for, microseconds by the clock, and the highest RSS in KiB.
 *
 * It is a program of its own because Linux lets a command's highest RSS begin with that of the
 * process that started it: an interpreter's would hide a small command's.
 */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static long long microseconds(struct timeval t)
{
    return (long long)t.tv_sec * 1000000 + t.tv_usec;
}

static long long now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (long long)t.tv_sec * 1000000 + t.tv_nsec / 1000;
}

int main(int argc, char **argv)
{
    struct rusage used;
    long long start = now();
    const char *preload;
    int status;
    pid_t pid;
    FILE *out;

    if (argc < 3)
        return 2;
    pid = fork();
    if (pid < 0)
        return 1;
    if (pid == 0) {
        /* The library in COST_PRELOAD is for the command, not for this program. */
        preload = getenv("COST_PRELOAD");
        if (preload) {
            setenv("LD_PRELOAD", preload, 1);
            unsetenv("COST_PRELOAD");
        }
        execv(argv[2], argv + 2);
        perror(argv[2]);
        _exit(127);
    }
    if (wait4(pid, &status, 0, &used) != pid)
        return 1;
    start = now() - start;
    out = fopen(argv[1], "w");
    if (!out)
        return 1;
    fprintf(out, "%d %lld %lld %lld %ld\n",
            WIFSIGNALED(status) ? -WTERMSIG(status) : WEXITSTATUS(status),
            microseconds(used.ru_utime), microseconds(used.ru_stime), start, used.ru_maxrss);
    return fclose(out) ? 1 : 0;
}
