/* More threads than can be stopped: none stays stopped, and the caller gets an error. */
#define STOP_WORLD_THREADS_MAX 4u
#include "preload/leak/stop_the_world.c"

#include <pthread.h>

#include "tests/tap.h"

#define THREADS 5

static int ends[2];

static void *sleeps(void *unused)
{
    char c;

    if (read(ends[0], &c, 1) != 1)
        return NULL;
    return unused;
}

static size_t threads_stand(pthread_t *threads, size_t n)
{
    struct stopped_world f;

    while (n-- > 0)
        pthread_create(&threads[n], NULL, sleeps, NULL);
    if (!stop_world_begin(&f))
        return SIZE_MAX;
    n = f.n;
    stop_world_end(&f);
    return n;
}

int main(void)
{
    pthread_t threads[THREADS];
    size_t wakened = 0;

    if (pipe(ends) < 0)
        return 1;
    ok(threads_stand(threads, THREADS - 1) == THREADS - 1,
       "stop_world_begin stops as many threads as there is room for");
    ok(threads_stand(threads + THREADS - 1, 1) == SIZE_MAX,
       "stop_world_begin fails with one thread more than there is room for");
    for (int i = 0; i < THREADS; i++)
        wakened += write(ends[1], "x", 1) == 1;
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    ok(wakened == THREADS, "after the failure all threads run and end");
    return done_testing();
}
