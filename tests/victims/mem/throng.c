/*
 * throng LIVE MORE: LIVE threads at once, each of which allocates once and waits; then MORE
 * threads, one after another, that allocate once and end. Prints the resident memory while all LIVE
 * threads exist, in KiB.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static pthread_barrier_t all_there, may_go;
static void *volatile kept;

__attribute__((noinline, noclone)) static void call_once(void)
{
    void *p = malloc(64);

    kept = p;
    free(p);
}

static void *stay(void *arg)
{
    call_once();
    pthread_barrier_wait(&all_there);
    pthread_barrier_wait(&may_go);
    return arg;
}

static void *pass_by(void *arg)
{
    call_once();
    return arg;
}

/* VmRSS of /proc/self/status is a sum that each processor adds to in steps: with many
   processors it is wrong by megabytes. Here the pages themselves are counted. */
static long resident(void)
{
    FILE *f = fopen("/proc/self/smaps_rollup", "r");
    char line[200];
    long kib = -1;

    while (f && fgets(line, sizeof line, f))
        if (strncmp(line, "Rss:", 4) == 0)
            kib = atol(line + 4);
    if (f)
        fclose(f);
    return kib;
}

int main(int argc, char **argv)
{
    int live = argc > 1 ? atoi(argv[1]) : 10, more = argc > 2 ? atoi(argv[2]) : 0;
    pthread_t *threads = calloc((size_t)live, sizeof *threads), passing;
    pthread_attr_t attr;

    pthread_attr_init(&attr);
    pthread_attr_setstacksize(&attr, 65536);
    pthread_barrier_init(&all_there, NULL, (unsigned)live + 1);
    pthread_barrier_init(&may_go, NULL, (unsigned)live + 1);
    for (int i = 0; i < live; i++)
        if (pthread_create(&threads[i], &attr, stay, NULL))
            return 1;
    pthread_barrier_wait(&all_there);
    printf("%ld\n", resident());
    for (int i = 0; i < more; i++) {
        if (pthread_create(&passing, &attr, pass_by, NULL))
            return 1;
        pthread_join(passing, NULL);
    }
    pthread_barrier_wait(&may_go);
    for (int i = 0; i < live; i++)
        pthread_join(threads[i], NULL);
    free(threads);
    return 0;
}
