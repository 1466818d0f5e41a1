/*
 * ownstacks: forty threads, or as many as the argument gives, begun in turn. Each waits three times
 * for a condition on its own stack that is never signalled.
 */
#include <pthread.h>
#include <time.h>
#include <unistd.h>

#include "tests/victims/off/truth.h"

enum { THREADS = 40, WAITS = 3 };

static uint64_t now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static void *waits(void *arg)
{
    pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    pthread_cond_t never = PTHREAD_COND_INITIALIZER;

    (void)arg;
    for (int i = 0; i < WAITS; i++) {
        struct timespec until;
        uint64_t begin, cpu;

        clock_gettime(CLOCK_REALTIME, &until);
        until.tv_nsec += 50000000;
        if (until.tv_nsec >= 1000000000) {
            until.tv_nsec -= 1000000000;
            until.tv_sec++;
        }
        pthread_mutex_lock(&lock);
        cpu = truth_cpu();
        begin = now();
        pthread_cond_timedwait(&never, &lock, &until);
        truth(TRUTH_TIMER, begin, now(), cpu);
        pthread_mutex_unlock(&lock);
    }
    return NULL;
}

int main(int argc, char **argv)
{
    int n = argc > 1 && atoi(argv[1]) < THREADS ? atoi(argv[1]) : THREADS;
    pthread_t threads[THREADS];

    for (int i = 0; i < n; i++) {
        if (pthread_create(&threads[i], NULL, waits, NULL))
            return 1;
        if (i % 4 == 0)
            usleep(1000);
    }
    for (int i = 0; i < n; i++)
        pthread_join(threads[i], NULL);
    return 0;
}
