/* A running thread that has not answered in time has had no CPU, so the stop waits for it. */
/* Long enough for a thread that sleeps for a page or a kernel lock, which does not count as
 * running. */
#define ANSWER_NS 200000u
#define PATIENCE INT32_MAX
#include "preload/leak/stop_the_world.c"

#include <pthread.h>

#include "tests/tap.h"

#define ROUNDS 50

static uint32_t runs, ends;

static void *run(void *unused)
{
    __atomic_store_n(&runs, 1, __ATOMIC_RELEASE);
    while (!__atomic_load_n(&ends, __ATOMIC_ACQUIRE))
        ;
    return unused;
}

int main(void)
{
    size_t missed = 0, stood = 0;
    struct stopped_world f;
    pthread_t t;

    pthread_create(&t, NULL, run, NULL);
    while (!__atomic_load_n(&runs, __ATOMIC_ACQUIRE))
        kernel_yield();
    for (int i = 0; i < ROUNDS && stop_world_begin(&f); i++) {
        missed += f.missed;
        stood += f.n == 1 && f.threads[0].state == STOP_WORLD_STANDS;
        stop_world_end(&f);
    }
    __atomic_store_n(&ends, 1, __ATOMIC_RELEASE);
    pthread_join(t, NULL);
    is_int((intmax_t)missed, 0, "a running thread is not missed");
    is_int((intmax_t)stood, ROUNDS, "a running thread is stopped each time");
    return done_testing();
}
