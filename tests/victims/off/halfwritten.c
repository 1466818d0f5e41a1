/*
 * halfwritten: blocking writes to sockets that end with a part for other reasons than a signal, of
 * which there is none here. Prints a line for each.
 *
 *     closed   the peer reads a part and closes: no SIGPIPE comes, which would end this program
 *     late     the time to send, a second, is over: it is not waited for once more
 *     reset    the peer resets the connection: the next write says so
 */
#define _GNU_SOURCE
#include <errno.h>
#include <netinet/in.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static int pair[2];
static char out[8 << 20], in[100000];

static void *read_and_close(void *arg)
{
    usleep(50000);
    if (read(pair[1], in, sizeof in) <= 0)
        puts("nothing to read");
    usleep(50000);
    close(pair[1]);
    return arg;
}

static long now_ms(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

static const char *write_all(void)
{
    long n = write(pair[0], out, sizeof out);

    return n < 0 ? "an error" : n < (long)sizeof out ? "a part" : "all";
}

static const char *write_until_closed(void)
{
    const char *wrote;
    pthread_t t;

    pthread_create(&t, NULL, read_and_close, NULL);
    wrote = write_all();
    pthread_join(t, NULL);
    return wrote;
}

static int closed(void)
{
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, pair) < 0)
        return 3;
    printf("closed: %s\n", write_until_closed());
    close(pair[0]);
    return 0;
}

static int late(void)
{
    struct timeval second = {1, 0};
    const char *wrote;
    long began, took;

    if (socketpair(AF_UNIX, SOCK_STREAM, 0, pair) < 0)
        return 3;
    setsockopt(pair[0], SOL_SOCKET, SO_SNDTIMEO, &second, sizeof second);
    began = now_ms();
    wrote = write_all();
    took = now_ms() - began;
    printf("late: %s %s\n", wrote, took < 1900 ? "in time" : "too late");
    close(pair[0]);
    close(pair[1]);
    return 0;
}

static int reset(void)
{
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK)}};
    int listener = socket(AF_INET, SOCK_STREAM, 0);
    socklen_t len = sizeof at;
    const char *wrote;

    if (bind(listener, (void *)&at, sizeof at) < 0 || listen(listener, 1) < 0 ||
        getsockname(listener, (void *)&at, &len) < 0)
        return 3;
    pair[0] = socket(AF_INET, SOCK_STREAM, 0);
    if (connect(pair[0], (void *)&at, sizeof at) < 0)
        return 3;
    pair[1] = accept(listener, NULL, NULL);
    wrote = write_until_closed();
    printf("reset: %s, then %s\n", wrote, write(pair[0], out, 10) < 0 ? strerror(errno) : "more");
    return 0;
}

int main(void)
{
    int err;

    setvbuf(stdout, NULL, _IOLBF, 0);
    err = closed() || late();
    signal(SIGPIPE, SIG_IGN);
    return err || reset();
}
