/*
 * leftasleep.c: eight threads nap a few times and then wait for ever: half of them on a futex, half
 * of them in read of a pipe. After 200 ms the process ends over them.
 */
#include <pthread.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t never = PTHREAD_COND_INITIALIZER;
static int ends[2];

__attribute__((noinline)) static void waits_on_a_futex(void)
{
    pthread_mutex_lock(&lock);
    for (;;)
        pthread_cond_wait(&never, &lock);
}

__attribute__((noinline)) static void waits_for_a_pipe(void)
{
    char c;

    while (read(ends[0], &c, 1) >= 0)
        ;
}

static void *thread(void *arg)
{
    const struct timespec nap = {0, 1000000};

    for (int i = 0; i < 3; i++)
        nanosleep(&nap, NULL);
    if (arg)
        waits_on_a_futex();
    waits_for_a_pipe();
    return NULL;
}

int main(void)
{
    const struct timespec while_they_wait = {0, 200000000};

    if (pipe(ends) < 0)
        return 1;
    for (size_t i = 0; i < 8; i++) {
        pthread_t t;

        if (pthread_create(&t, NULL, thread, i % 2 ? &lock : NULL) != 0)
            return 1;
    }
    nanosleep(&while_they_wait, NULL);
    exit(0);
}
