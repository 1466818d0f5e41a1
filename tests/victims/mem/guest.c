/*
 * Looks for traces of the recorder that a program could stumble over: descriptors left open, errno
 * changed, signal mask changed. Prints its findings, "clean" if there are none. Half-way it closes
 * every descriptor and goes on allocating from many new stacks, so that the trace has to grow.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int faults, first_free;
static volatile int sink;

static void fault(const char *what)
{
    faults++;
    if (write(1, what, strlen(what)) < 0 || write(1, "\n", 1) < 0)
        _exit(99);
}

/* 2^12 different stacks. */
__attribute__((noinline, noclone)) static void branch(unsigned bits, int depth)
{
    if (depth == 0)
        free(malloc(bits + 1));
    else if (bits >> (depth - 1) & 1)
        branch(bits, depth - 1);
    else
        branch(bits, depth - 1);
    sink++;
}

static void check_errno(void)
{
    void *p;

    errno = 4711;
    p = malloc(10);
    p = realloc(p, 100000);
    free(p);
    if (errno != 4711)
        fault("errno changed by calls that succeeded");
    errno = 0;
    p = malloc((size_t)-1 / 4);
    if (p || errno != ENOMEM)
        fault("ENOMEM lost");
    errno = 0;
    if (posix_memalign(&p, 3, 8) != EINVAL || errno != 0)
        fault("posix_memalign's error changed");
}

int main(void)
{
    sigset_t before, after;
    int fd;

    /* The kernel fills in as much of a set as it has signals, and so does sigemptyset. */
    memset(&before, 0, sizeof before);
    memset(&after, 0, sizeof after);
    sigprocmask(SIG_BLOCK, NULL, &before);
    check_errno();
    first_free = dup(1);
    if (first_free != 3)
        fault("a descriptor is kept");
    close(first_free);
    for (fd = 3; fd < 256; fd++)
        close(fd);
    for (unsigned i = 0; i < 1u << 12; i++)
        branch(i, 12);
    first_free = open("/dev/null", O_RDONLY);
    if (first_free != 3)
        fault("a descriptor is kept after growing");
    sigprocmask(SIG_BLOCK, NULL, &after);
    if (memcmp(&before, &after, sizeof before))
        fault("the signal mask changed");
    if (!faults && write(1, "clean\n", 6) < 0)
        return 99;
    return faults != 0;
}
