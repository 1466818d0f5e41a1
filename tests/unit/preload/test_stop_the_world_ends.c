/* A thread that was joined is in the kernel for a moment more, where no signal is answered: it
 * has ended, and is not one that cannot be found. */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdint.h>

#include "preload/leak/stop_the_world.h"
#include "tests/tap.h"

#define ROUNDS 1000

static void *end(void *arg)
{
    return arg;
}

int main(void)
{
    size_t missed = 0, frozen = 0;
    struct stopped_world f;
    pthread_t t;

    for (int i = 0; i < ROUNDS; i++) {
        pthread_create(&t, NULL, end, NULL);
        pthread_join(t, NULL);
        if (!stop_world_begin(&f))
            continue;
        frozen++;
        missed += f.missed;
        stop_world_end(&f);
    }
    is_int((intmax_t)frozen, ROUNDS, "the others are stopped each time");
    is_int((intmax_t)missed, 0, "a thread that ends is not missed");
    return done_testing();
}
