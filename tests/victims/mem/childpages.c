/*
 * Keeps one block from each of some 30,000 stacks, then forks 20 children, each of which
 * allocates one block from a stack of its own and ends. Prints the page faults of a child, and
 * by how many KiB of anonymous memory the largest begins with less than its parent.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#define PLAIN __attribute__((noinline, noclone))
#define WAYS 15 /* two calls in each of so many frames */
#define CHILDREN 20

static void *volatile last;
static volatile int sink;

/* A stack for each number of WAYS bits. */
PLAIN static void keep(unsigned way, unsigned depth)
{
    if (depth == 0)
        last = malloc(1);
    else if (way & 1)
        keep(way >> 1, depth - 1);
    else
        keep(way >> 1, depth - 1), sink++;
    sink++;
}

PLAIN static void child_work(void)
{
    last = malloc(1);
    sink++;
}

/* Without allocating. */
static long anonymous_kib(void)
{
    char text[4096];
    int fd = open("/proc/self/status", O_RDONLY);
    ssize_t n = read(fd, text, sizeof text - 1);
    const char *line;

    close(fd);
    text[n > 0 ? n : 0] = '\0';
    line = strstr(text, "RssAnon:");
    return line ? atol(line + strlen("RssAnon:")) : 0;
}

int main(void)
{
    long most = 0, has;
    struct rusage u;
    int ends[2];

    if (pipe(ends) < 0)
        return 2;
    for (unsigned way = 0; way < 1u << WAYS; way++)
        keep(way, WAYS);
    for (int i = 0; i < CHILDREN; i++) {
        if (fork() == 0) {
            has = anonymous_kib();
            child_work();
            _exit(write(ends[1], &has, sizeof has) < 0);
        }
        wait(NULL);
        if (read(ends[0], &has, sizeof has) == sizeof has && has > most)
            most = has;
    }
    getrusage(RUSAGE_CHILDREN, &u);
    printf("%ld %ld\n", u.ru_minflt / CHILDREN, anonymous_kib() - most);
    return 0;
}
