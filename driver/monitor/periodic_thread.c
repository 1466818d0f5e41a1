#define _GNU_SOURCE
#include "driver/monitor/periodic_thread.h"

#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <time.h>

#include "common/alloc.h"
#include "common/clock.h"

struct periodic_thread {
    periodic_thread_work *work;
    void *arg;
    unsigned pause_ms;
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t wake;
    bool stop; /* under the lock */
};

static struct timespec from_now(unsigned ms)
{
    uint64_t then = clock_ns(CLOCK_MONOTONIC) + (uint64_t)ms * 1000000;

    return (struct timespec){(time_t)(then / 1000000000), (long)(then % 1000000000)};
}

/* Called with the lock held. False: the thread must end. */
static bool pause_is_over(struct periodic_thread *t)
{
    struct timespec until = from_now(t->pause_ms);

    while (!t->stop && pthread_cond_timedwait(&t->wake, &t->lock, &until) == 0)
        ;
    return !t->stop;
}

static void *run(void *arg)
{
    struct periodic_thread *t = arg;

    pthread_mutex_lock(&t->lock);
    while (pause_is_over(t)) {
        pthread_mutex_unlock(&t->lock);
        t->pause_ms = t->work(t->arg);
        pthread_mutex_lock(&t->lock);
    }
    pthread_mutex_unlock(&t->lock);
    return NULL;
}

static void release(struct periodic_thread *t)
{
    pthread_cond_destroy(&t->wake);
    pthread_mutex_destroy(&t->lock);
    free(t);
}

struct periodic_thread *periodic_thread_start(periodic_thread_work *work, unsigned first_pause_ms,
                                              void *arg)
{
    struct periodic_thread *t = xcalloc(1, sizeof *t);
    pthread_condattr_t monotonic;
    sigset_t all, before;
    int err;

    *t = (struct periodic_thread){.work = work, .arg = arg, .pause_ms = first_pause_ms};
    pthread_mutex_init(&t->lock, NULL);
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_cond_init(&t->wake, &monotonic);
    pthread_condattr_destroy(&monotonic);
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    err = pthread_create(&t->thread, NULL, run, t);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (!err)
        return t;
    release(t);
    return NULL;
}

void periodic_thread_stop(struct periodic_thread *t)
{
    if (!t)
        return;
    pthread_mutex_lock(&t->lock);
    t->stop = true;
    pthread_cond_signal(&t->wake);
    pthread_mutex_unlock(&t->lock);
    pthread_join(t->thread, NULL);
    release(t);
}
