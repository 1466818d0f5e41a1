/*
 * Eight threads allocate, free their own blocks and each other's. The total
 * climbs in the first phase and falls in the second, with a barrier at the top.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <unistd.h>

#define THREADS 8
#define SLOTS 4096

void count_report(void) __attribute__((weak));

static void *slots[THREADS][SLOTS];
static pthread_mutex_t locks[THREADS] = {[0 ... THREADS - 1] = PTHREAD_MUTEX_INITIALIZER};
static pthread_barrier_t top;

static size_t next(uint64_t *seed, size_t below)
{
    *seed = *seed * 6364136223846793005u + 1442695040888963407u;
    return (*seed >> 33) % below;
}

static void *work(void *arg)
{
    size_t me = (size_t)arg;
    uint64_t seed = me + 1;

    for (int i = 0; i < 40000; i++) {
        size_t whose = next(&seed, THREADS), k = next(&seed, SLOTS);
        void *fresh = next(&seed, i < 30000 ? 8 : 2) ? malloc(next(&seed, 3000)) : NULL;
        void *old;

        pthread_mutex_lock(&locks[whose]);
        old = slots[whose][k];
        slots[whose][k] = fresh;
        pthread_mutex_unlock(&locks[whose]);
        if (next(&seed, 4) == 0 && old) {
            old = realloc(old, next(&seed, 500) + 1);
            free(old);
        } else {
            free(old);
        }
        if (i == 30000)
            pthread_barrier_wait(&top);
    }
    return NULL;
}

int main(void)
{
    pthread_t t[THREADS];

    pthread_barrier_init(&top, NULL, THREADS);
    for (size_t i = 0; i < THREADS; i++)
        if (pthread_create(&t[i], NULL, work, (void *)i))
            return 1;
    for (size_t i = 0; i < THREADS; i++)
        pthread_join(t[i], NULL);
    if (count_report)
        count_report();
    _exit(0);
}
