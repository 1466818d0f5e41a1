/*
 * Allocates a lock, waits for it in both of its threads, and forgets it: the log of the waits has
 * its address, and no memory of the program's has it.
 */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct held {
    pthread_mutex_t lock;
    pthread_barrier_t both;
};

static struct held *volatile shared;

static void *wait_for_it(void *arg)
{
    (void)arg;
    for (int i = 0; i < 20; i++) {
        pthread_barrier_wait(&shared->both);
        pthread_mutex_lock(&shared->lock);
        usleep(1000);
        pthread_mutex_unlock(&shared->lock);
    }
    return NULL;
}

static __attribute__((noinline)) void definite_lock(void)
{
    pthread_t other;

    shared = calloc(1, sizeof *shared);
    pthread_mutex_init(&shared->lock, NULL);
    pthread_barrier_init(&shared->both, NULL, 2);
    pthread_create(&other, NULL, wait_for_it, NULL);
    wait_for_it(NULL);
    pthread_join(other, NULL);
    shared = NULL;
}

/* Nothing of the calls before is left on the stack. */
static __attribute__((noinline)) void wipe(void)
{
    volatile char room[32768];

    for (size_t i = 0; i < sizeof room; i++)
        room[i] = 0;
}

int main(void)
{
    definite_lock();
    wipe();
    return 0;
}
