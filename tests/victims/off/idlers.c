/*
 * idlers N: N threads that wait in idle() for a lock that is never given back. "ready" is printed
 * when all are there; ends with status 0 when standard input does.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_barrier_t there;

static void *idle(void *arg)
{
    pthread_barrier_wait(&there);
    pthread_mutex_lock(&lock);
    pthread_mutex_unlock(&lock);
    return arg;
}

int main(int argc, char **argv)
{
    int n = argc > 1 ? atoi(argv[1]) : 1;
    pthread_attr_t small;
    pthread_t t;
    char c;

    pthread_attr_init(&small);
    pthread_attr_setstacksize(&small, 64 << 10);
    pthread_barrier_init(&there, NULL, (unsigned)n + 1);
    pthread_mutex_lock(&lock);
    for (int i = 0; i < n; i++)
        if (pthread_create(&t, &small, idle, NULL) != 0)
            return 3;
    pthread_barrier_wait(&there);
    puts("ready");
    fflush(stdout);
    while (read(0, &c, 1) > 0)
        ;
    return 0;
}
