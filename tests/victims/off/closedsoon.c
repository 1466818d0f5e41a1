/*
 * Descriptors of plain files that name the object of a wait, and are closed as soon as it is over:
 *
 *     closedsoon poll ROUNDS     a file that is polled for errors beside a pipe
 *     closedsoon select ROUNDS   a file that is selected for errors beside a pipe
 *     closedsoon openat ROUNDS   a directory from which the path of a fifo begins
 *
 * Their numbers are unused then. The test makes "first" and "one/fifo".
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/select.h>
#include <time.h>
#include <unistd.h>

static void nap(long ns)
{
    struct timespec t = {0, ns};

    nanosleep(&t, NULL);
}

static __attribute__((noinline)) int wait_in_poll(int file, int out)
{
    struct pollfd fds[2] = {{file, 0, 0}, {out, POLLIN, 0}};

    return poll(fds, 2, 3);
}

static __attribute__((noinline)) int wait_in_select(int file, int out)
{
    struct timeval t = {0, 3000};
    fd_set in, errors;

    FD_ZERO(&in);
    FD_ZERO(&errors);
    FD_SET(out, &in);
    FD_SET(file, &errors);
    return select(out + 1, &in, NULL, &errors, &t);
}

static void *open_other_end(void *arg)
{
    nap(100000);
    close(open("one/fifo", O_WRONLY));
    return arg;
}

static __attribute__((noinline)) int wait_in_openat(int dir)
{
    return openat(dir, "fifo", O_RDONLY);
}

/* ... and nothing has that number until the tracer knows what the wait was for. */
static void leave(int fd)
{
    close(fd);
    nap(3000000);
}

int main(int argc, char **argv)
{
    int rounds = argc > 2 ? atoi(argv[2]) : 0, p[2];
    pthread_t t;

    if (pipe2(p, O_CLOEXEC) != 0)
        return 2;
    dup2(p[0], 50);
    for (int i = 0; i < rounds; i++) {
        int fd = open(argv[1][0] == 'o' ? "one" : "first", O_RDONLY), fifo;

        if (argv[1][0] == 'o') {
            pthread_create(&t, NULL, open_other_end, NULL);
            fifo = wait_in_openat(fd);
            leave(fd);
            close(fifo);
            pthread_join(t, NULL);
        } else {
            if (argv[1][0] == 'p' ? wait_in_poll(fd, 50) : wait_in_select(fd, 50))
                return 4;
            leave(fd);
        }
    }
    return 0;
}
