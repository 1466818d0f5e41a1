/* A thread that was joined stays in the kernel a moment longer and answers no signal there. It
 * counts as ended, not as missed. */
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
    is_int((intmax_t)frozen, ROUNDS, "stop_world_begin succeeds each time while threads end");
    is_int((intmax_t)missed, 0, "an ended thread does not count as missed");
    return done_testing();
}
