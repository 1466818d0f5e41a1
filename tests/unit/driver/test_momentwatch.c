/* When moments are due depends on what a sample costs, and not on how long it had to wait. */
#define _GNU_SOURCE
#include "driver/monitor/momentwatch.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "tests/tap.h"

static unsigned waits; /* how often a trace had to be waited for */
static long waited_ns; /* and how long */

/* The C library's. It is later only where something was waited for, and nothing takes a CPU time.
 */
int clock_gettime(clockid_t clock, struct timespec *at)
{
    *at = (struct timespec){clock == CLOCK_MONOTONIC ? 1000 : 1, 0};
    if (clock == CLOCK_MONOTONIC)
        at->tv_nsec = waited_ns;
    return 0;
}

/* The C library's, for which each trace takes a fifth of a second. */
int openat(int dir, const char *path, int flags, ...)
{
    size_t len = strlen(path);

    if (len > 6 && strcmp(path + len - 6, ".flame") == 0) {
        waited_ns += 200000000;
        waits++;
    }
    return (int)syscall(SYS_openat, dir, path, flags, 0600);
}

int main(void)
{
    char dir[] = "/tmp/test_momentwatch.XXXXXX", path[64];
    struct moment_pace pace;
    struct momentwatch *w;

    if (!mkdtemp(dir))
        return 1;
    snprintf(path, sizeof path, "%s/a.flame", dir);
    close(open(path, O_WRONLY | O_CREAT | O_CLOEXEC));
    waits = 0;
    waited_ns = 0;
    moment_pace_parse("100ms", &pace);
    w = momentwatch_new(dir, &pace);
    /* 19 times a fifth of a second would be 3,800 ms. */
    ok(momentwatch_look(w) < 2000 && waits == 1,
       "a sample that had to wait is followed by another soon");
    momentwatch_free(w);
    unlink(path);
    rmdir(dir);
    return done_testing();
}
