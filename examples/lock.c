/*
 * lock.c: three workers that need the ledger for a moment, and a reporter that holds it while it
 * writes to a slow disk.
 *
 *     cc -g -O1 -pthread -o lock examples/lock.c
 *     build/flame off --view chain -o lock.svg -- ./lock
 *
 * Above the workers' `futex ledger_lock` is the thread that gave it back, and above that the
 * function in which the reporter slept meanwhile: write_report().
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static pthread_mutex_t ledger_lock = PTHREAD_MUTEX_INITIALIZER;
static long ledger;
static volatile int done;

static void write_report(int fd)
{
    char line[64];
    int n = snprintf(line, sizeof line, "%ld\n", ledger);

    if (write(fd, line, (size_t)n) < 0 || fsync(fd) < 0)
        perror("report");
    usleep(15000); /* a disk that is slower than most */
}

static void *reporter(void *arg)
{
    FILE *f = tmpfile();

    (void)arg;
    pthread_setname_np(pthread_self(), "reporter");
    if (!f) {
        perror("tmpfile");
        exit(1);
    }
    while (!done) {
        pthread_mutex_lock(&ledger_lock);
        write_report(fileno(f));
        pthread_mutex_unlock(&ledger_lock);
        usleep(5000);
    }
    fclose(f);
    return NULL;
}

static void *worker(void *arg)
{
    pthread_setname_np(pthread_self(), "worker");
    for (int i = 0; i < 100; i++) {
        usleep(1000);
        pthread_mutex_lock(&ledger_lock);
        ledger += *(long *)arg;
        pthread_mutex_unlock(&ledger_lock);
    }
    return NULL;
}

int main(void)
{
    pthread_t r, w[3];
    long step = 1;

    pthread_create(&r, NULL, reporter, NULL);
    for (int i = 0; i < 3; i++)
        pthread_create(&w[i], NULL, worker, &step);
    for (int i = 0; i < 3; i++)
        pthread_join(w[i], NULL);
    done = 1;
    pthread_join(r, NULL);
    printf("%ld\n", ledger);
    return 0;
}
