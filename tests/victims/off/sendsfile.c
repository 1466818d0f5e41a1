/*
 * sendsfile.c: sends a file into a socket that is full until another thread reads from it, 50 ms
 * later, four times; and reads and writes the file in places, a thousand times each, or as often as
 * the argument says.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#include "tests/victims/off/truth.h"

enum { SIZE = 1 << 20, ROUNDS = 4, PLACES = 1000 };

static int ends[2], reader;

static uint64_t now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static void *reads(void *arg)
{
    const struct timespec nap = {0, 50000000};
    static char buffer[65536];

    reader = truth_self();
    for (int i = 0; i < ROUNDS; i++) {
        nanosleep(&nap, NULL);
        for (ssize_t got = 0, n; got < SIZE; got += n)
            if ((n = read(ends[1], buffer, sizeof buffer)) <= 0)
                exit(1);
    }
    return arg;
}

int main(int argc, char **argv)
{
    char name[] = "sendsfile.XXXXXX", byte = 'x';
    struct iovec one = {&byte, 1};
    int fd = mkstemp(name), places = argc > 1 ? atoi(argv[1]) : PLACES;
    pthread_t t;

    if (fd < 0 || unlink(name) < 0 || ftruncate(fd, SIZE) < 0 ||
        socketpair(AF_UNIX, SOCK_STREAM, 0, ends) < 0 || pthread_create(&t, NULL, reads, NULL) != 0)
        return 1;
    for (int i = 0; i < ROUNDS; i++)
        for (off_t at = 0; at < SIZE;) {
            uint64_t cpu = truth_cpu(), begin = now();

            if (sendfile(ends[0], fd, &at, (size_t)(SIZE - at)) <= 0)
                return 1;
            truth(reader, begin, now(), cpu);
        }
    for (int i = 0; i < places; i++)
        if (pwrite(fd, &byte, 1, i) != 1 || pread(fd, &byte, 1, i) != 1 ||
            pwritev(fd, &one, 1, i) != 1 || preadv(fd, &one, 1, i) != 1 || byte != 'x')
            return 1;
    return pthread_join(t, NULL) != 0;
}
