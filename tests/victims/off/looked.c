/*
 * looked.c: threads whose sleeps are known, while a tracer samples them: looked ROUNDS MS
 *
 * Prints `ready`, waits for a line on standard input, and begins: for each kind there is a thread
 * of that name, whose function sleeps ROUNDS times, MS milliseconds each, and measures that by its
 * own clock; another thread ends its sleeps. Meanwhile threads called `comes` are made, sleep once
 * and end, and one called `stays` sleeps all the time. At the end there is a line `KIND NANOSECONDS
 * DELAY` for each kind: for DELAY of these it was ready and had no CPU. Then it waits for the end
 * of standard input.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#define COMERS 8

static int rounds;
static struct timespec nap;

pthread_mutex_t g_lock = PTHREAD_MUTEX_INITIALIZER;
static int piped[2], polled[2], listener;
static struct sockaddr_un address = {.sun_family = AF_UNIX};
static socklen_t address_len;
static sem_t never;

static uint64_t now(void)
{
    struct timespec ts;

    clock_gettime(CLOCK_MONOTONIC, &ts);
    return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

/* How long this thread was ready and had no CPU. */
static uint64_t waited(void)
{
    unsigned long long ran, ready = 0;
    FILE *f = fopen("/proc/thread-self/schedstat", "r");

    if (!f || fscanf(f, "%llu %llu", &ran, &ready) != 2)
        ready = 0;
    if (f)
        fclose(f);
    return ready;
}

/* ---- sleeps and wakers ---- */

static __attribute__((noinline)) void sleep_naps(void)
{
    nanosleep(&nap, NULL);
}

static __attribute__((noinline)) void sleep_locks(void)
{
    pthread_mutex_lock(&g_lock);
    pthread_mutex_unlock(&g_lock);
}

static __attribute__((noinline)) void sleep_reads(void)
{
    char c;

    if (read(piped[0], &c, 1) != 1)
        abort();
}

static __attribute__((noinline)) void sleep_polls(void)
{
    struct pollfd p = {.fd = polled[0], .events = POLLIN};
    char c;

    if (poll(&p, 1, -1) != 1 || read(polled[0], &c, 1) != 1)
        abort();
}

static __attribute__((noinline)) void sleep_accepts(void)
{
    close(accept(listener, NULL, NULL));
}

static void put(int fd)
{
    if (write(fd, "x", 1) != 1)
        abort();
}

static void wake_reads(void)
{
    put(piped[1]);
}

static void wake_polls(void)
{
    put(polled[1]);
}

static void wake_accepts(void)
{
    int fd = socket(AF_UNIX, SOCK_STREAM, 0);

    if (connect(fd, (struct sockaddr *)&address, address_len) < 0)
        abort();
    close(fd);
}

static void take_lock(void)
{
    pthread_mutex_lock(&g_lock);
}

static void give_lock(void)
{
    pthread_mutex_unlock(&g_lock);
}

static struct kind {
    const char *name;
    void (*sleep)(void);
    void (*before)(void), (*wake)(void); /* the other thread's; NULL: nothing to do */
    sem_t ready, done;
    uint64_t ns, delay;
} kinds[] = {
    {.name = "naps", .sleep = sleep_naps},
    {.name = "locks", .sleep = sleep_locks, .before = take_lock, .wake = give_lock},
    {.name = "reads", .sleep = sleep_reads, .wake = wake_reads},
    {.name = "polls", .sleep = sleep_polls, .wake = wake_polls},
    {.name = "accepts", .sleep = sleep_accepts, .wake = wake_accepts},
};

#define KINDS (sizeof kinds / sizeof kinds[0])

static void *sleeper(void *arg)
{
    struct kind *k = arg;

    pthread_setname_np(pthread_self(), k->name);
    for (int i = 0; i < rounds; i++) {
        uint64_t t, w;

        sem_wait(&k->ready);
        w = waited();
        t = now();
        k->sleep();
        k->ns += now() - t;
        k->delay += waited() - w;
        sem_post(&k->done);
    }
    return NULL;
}

static void *ender(void *arg)
{
    struct kind *k = arg;

    pthread_setname_np(pthread_self(), "ender");
    for (int i = 0; i < rounds; i++) {
        if (k->before)
            k->before();
        sem_post(&k->ready);
        nanosleep(&nap, NULL);
        if (k->wake)
            k->wake();
        sem_wait(&k->done);
    }
    return NULL;
}

/* ---- the others ---- */

static void *comer(void *arg)
{
    pthread_setname_np(pthread_self(), "comes");
    sleep_naps();
    return arg;
}

static void *stayer(void *arg)
{
    pthread_setname_np(pthread_self(), "stays");
    sem_wait(&never);
    return arg;
}

static void await_line(void)
{
    char c = 0;

    while (c != '\n' && read(0, &c, 1) == 1)
        ;
}

int main(int argc, char **argv)
{
    pthread_t threads[2 * KINDS], one;
    uint64_t came = 0;

    if (argc != 3)
        return 2;
    rounds = atoi(argv[1]);
    nap = (struct timespec){.tv_nsec = atol(argv[2]) * 1000000};
    address_len = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1) +
                  (socklen_t)snprintf(address.sun_path + 1, sizeof address.sun_path - 1,
                                      "flame-looked-%d", (int)getpid());
    listener = socket(AF_UNIX, SOCK_STREAM, 0);
    if (pipe(piped) < 0 || pipe(polled) < 0 ||
        bind(listener, (struct sockaddr *)&address, address_len) < 0 || listen(listener, 1) < 0)
        return 2;
    pthread_create(&one, NULL, stayer, NULL);
    puts("ready");
    fflush(stdout);
    await_line();
    for (size_t i = 0; i < KINDS; i++) {
        pthread_create(&threads[2 * i], NULL, ender, &kinds[i]);
        pthread_create(&threads[2 * i + 1], NULL, sleeper, &kinds[i]);
    }
    for (int i = 0; i < COMERS; i++) {
        uint64_t t = now();

        pthread_create(&one, NULL, comer, NULL);
        pthread_join(one, NULL);
        came += now() - t;
    }
    for (size_t i = 0; i < 2 * KINDS; i++)
        pthread_join(threads[i], NULL);
    for (size_t i = 0; i < KINDS; i++)
        printf("%s %llu %llu\n", kinds[i].name, (unsigned long long)kinds[i].ns,
               (unsigned long long)kinds[i].delay);
    printf("comes %llu 0\nfinished\n", (unsigned long long)came);
    fflush(stdout);
    await_line();
    return 0;
}
