/*
 * Threads that are never idle, or hardly ever awake, until standard input ends; then says
 * "WHAT errors N" and ends with 1 if N is not 0.
 *
 *   restless busy     four threads allocate, fill, check and free
 *   restless loader   two threads open and close libraries without end (named by the arguments)
 *   restless asleep   threads in epoll_wait, poll, nanosleep, a condition variable, semop and a
 *                     pipe's read: a call that returns EINTR, or before its time, is an error
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ipc.h>
#include <sys/sem.h>
#include <time.h>
#include <unistd.h>

static atomic_long errors, rounds;
static atomic_bool over;
static char **libraries;
static int nlibraries;

static void *busy(void *arg)
{
    unsigned seed = (unsigned)(size_t)arg + 1;
    struct {
        unsigned char *p;
        size_t size;
    } blocks[256] = {{0}};

    while (!over) {
        size_t i;

        seed = seed * 1103515245 + 12345;
        i = seed >> 16 & 255;
        if (blocks[i].p) {
            for (size_t k = 0; k < blocks[i].size; k++)
                errors += blocks[i].p[k] != (unsigned char)i;
            free(blocks[i].p);
            blocks[i].p = NULL;
        } else {
            blocks[i].size = 16 + (seed >> 20) % 200;
            blocks[i].p = malloc(blocks[i].size);
            memset(blocks[i].p, (int)i, blocks[i].size);
        }
        rounds++;
    }
    return NULL;
}

static void *loader(void *arg)
{
    unsigned seed = (unsigned)(size_t)arg + 1;

    while (!over) {
        void *library;

        seed = seed * 1103515245 + 12345;
        library = dlopen(libraries[(seed >> 16) % (unsigned)nlibraries], RTLD_NOW);
        if (!library) {
            errors++;
            continue;
        }
        free(malloc(100 + (seed >> 20) % 1000));
        dlclose(library);
        rounds++;
    }
    return NULL;
}

static double now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* How a call that waits 300 ms came back. Timeouts of ms are rounded. */
static void woke(double since, bool failed)
{
    if (failed || now() - since < 0.297)
        errors++;
    rounds++;
    free(malloc(100));
}

static void *in_epoll(void *arg)
{
    int fd = epoll_create1(0);
    struct epoll_event e;

    while (!over) {
        double since = now();

        woke(since, epoll_wait(fd, &e, 1, 300) != 0);
    }
    return arg;
}

static void *in_poll(void *arg)
{
    while (!over) {
        double since = now();

        woke(since, poll(NULL, 0, 300) != 0);
    }
    return arg;
}

static void *in_nanosleep(void *arg)
{
    while (!over) {
        struct timespec t = {0, 300000000};
        double since = now();

        woke(since, nanosleep(&t, NULL) != 0);
    }
    return arg;
}

static void *in_cond(void *arg)
{
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    static pthread_cond_t never = PTHREAD_COND_INITIALIZER;

    while (!over) {
        double since = now();
        struct timespec t;
        int error;

        clock_gettime(CLOCK_REALTIME, &t);
        t.tv_nsec += 300000000;
        t.tv_sec += t.tv_nsec / 1000000000;
        t.tv_nsec %= 1000000000;
        pthread_mutex_lock(&lock);
        error = pthread_cond_timedwait(&never, &lock, &t);
        pthread_mutex_unlock(&lock);
        woke(since, error != ETIMEDOUT);
    }
    return arg;
}

static void *in_semop(void *arg)
{
    int id = semget(IPC_PRIVATE, 1, 0600);

    while (!over && id >= 0) {
        struct timespec t = {0, 300000000};
        struct sembuf down = {0, -1, 0};
        double since = now();

        woke(since, semtimedop(id, &down, 1, &t) != -1 || errno != EAGAIN);
    }
    if (id >= 0)
        semctl(id, 0, IPC_RMID);
    return arg;
}

static void *in_read(void *arg)
{
    int ends[2];
    char c;

    if (pipe(ends))
        return arg;
    if (read(ends[0], &c, 1) != 0) /* its other end is never closed */
        errors++;
    return arg;
}

int main(int argc, char **argv)
{
    static void *(*const asleep[])(void *) = {in_epoll, in_poll, in_nanosleep, in_cond, in_semop};
    const char *what = argc > 1 ? argv[1] : "";
    pthread_t t[8];
    int n = 0;
    char c;

    libraries = argv + 2;
    nlibraries = argc - 2;
    if (strcmp(what, "busy") == 0)
        while (n < 4)
            pthread_create(&t[n], NULL, busy, (void *)(size_t)n), n++;
    else if (strcmp(what, "loader") == 0 && nlibraries > 0)
        while (n < 2)
            pthread_create(&t[n], NULL, loader, (void *)(size_t)n), n++;
    else if (strcmp(what, "asleep") == 0) {
        for (; n < 5; n++)
            pthread_create(&t[n], NULL, asleep[n], NULL);
        pthread_create(&t[5], NULL, in_read, NULL);
    } else {
        return 2;
    }
    while (read(0, &c, 1) > 0)
        ;
    over = true;
    while (n-- > 0)
        pthread_join(t[n], NULL);
    printf("%s errors %ld\n", what, errors);
    return errors || !rounds;
}
