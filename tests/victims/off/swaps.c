/* Reads through one descriptor, from one place, what is behind it changing each time: a pipe, an
 * eventfd, a socket. Each read waits for WAIT_NS times 1, 2 and 4. Twenty of each, or as many as
 * the argument says. */
#include <pthread.h>
#include <stdint.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "tests/victims/off/truth.h"

#define SAME 50
#define ROUNDS 20
#define WAIT_NS 2000000l

struct write {
    int fd, tid;
    long ns;
};

static void *write_later(void *arg)
{
    struct write *w = arg;
    const struct timespec t = {0, w->ns};
    uint64_t one = 1;

    w->tid = truth_self();
    nanosleep(&t, NULL);
    return write(w->fd, &one, sizeof one) == sizeof one ? NULL : arg;
}

static uint64_t now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* The end that is written to becomes that of SAME's other side. */
static int swap(int kind)
{
    int p[2], fd;

    if (kind == 1) {
        fd = eventfd(0, 0);
        return dup2(fd, SAME) == SAME ? fd : -1;
    }
    if ((kind == 0 ? pipe(p) : socketpair(AF_UNIX, SOCK_STREAM, 0, p)) != 0 ||
        dup2(p[0], SAME) != SAME)
        return -1;
    close(p[0]);
    return p[1];
}

int main(int argc, char **argv)
{
    int rounds = argc > 1 ? atoi(argv[1]) : ROUNDS;

    for (int i = 0; i < rounds * 3; i++) {
        struct write w = {swap(i % 3), 0, WAIT_NS << i % 3};
        pthread_t t;
        void *failed;
        uint64_t n, begin, cpu;

        if (w.fd < 0 || pthread_create(&t, NULL, write_later, &w) != 0)
            return 1;
        cpu = truth_cpu();
        begin = now();
        if (read(SAME, &n, sizeof n) != sizeof n)
            return 1;
        truth(w.tid, begin, now(), cpu);
        if (pthread_join(t, &failed) != 0 || failed)
            return 2;
        close(w.fd);
    }
    return 0;
}
