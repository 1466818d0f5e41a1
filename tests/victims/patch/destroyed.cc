/*
 * Threads that are cancelled in calls, and a handler that throws nothing but is thrown through:
 * each cancelled thread must run its destructors. Prints how many did.
 */
#include <cstdio>
#include <pthread.h>
#include <unistd.h>

static int destroyed, caught, entered;

struct guard {
    ~guard()
    {
        __atomic_fetch_add(&destroyed, 1, __ATOMIC_RELAXED);
    }
};

static int ends[2];

static void *read_forever(void *arg)
{
    guard g;
    try {
        guard inner;
        char c;
        while (read(ends[0], &c, 1) >= 0)
            __atomic_fetch_add(&entered, 1, __ATOMIC_RELAXED);
    } catch (...) {
        __atomic_fetch_add(&caught, 1, __ATOMIC_RELAXED);
        throw;
    }
    return arg;
}

int main()
{
    int rounds = 50;
    if (pipe(ends) != 0)
        return 1;
    for (int i = 0; i < rounds; i++) {
        pthread_t t;
        void *result;
        char c = 'x';
        if (pthread_create(&t, nullptr, read_forever, nullptr) != 0 || write(ends[1], &c, 1) != 1)
            return 1;
        while (__atomic_load_n(&entered, __ATOMIC_RELAXED) <= i)
            usleep(100);
        usleep(i * 37 % 500);
        pthread_cancel(t);
        pthread_join(t, &result);
        if (result != PTHREAD_CANCELED)
            return 2;
    }
    printf("%s\n", caught == rounds && destroyed == 2 * rounds ? "all destroyed" : "lost");
    return 0;
}
