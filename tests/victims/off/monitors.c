/*
 * monitors.c KIND MS: a lock that is no futex. A waiter sleeps on an object on its own stack, and
 * the thread that hands over the lock wakes it:
 *
 *   java    a mutex and a condition variable, in functions that are called as HotSpot's are
 *           for a monitor
 *   python  a semaphore, as CPython 3.13 parks a thread that waits for a lock; main waits for
 *           the end in the same parking lot, and for no lock
 *   plain   a semaphore, in functions whose names do not show it
 *   mutex   for comparison a lock that is a futex: a mutex, which the first waiter gets
 *
 * w0 takes the lock and holds it for MS milliseconds while w1 and then w2 begin to wait. w1 gets it
 * next and holds it as long; then w2. Prints for w0 and w1 how long others waited while they held
 * it, by the program's own clock, in nanoseconds: "w0 NS".
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <semaphore.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "tests/victims/off/truth.h"

/* A waiter, and the objects that it sleeps on. */
struct waiter {
    struct waiter *next;
    pthread_mutex_t mutex;
    pthread_cond_t cond;
    bool told;
    sem_t sem;
};

/* State of the lock, and the waiters in order. The spinlock makes no call, so it causes no waits.
 */
static pthread_spinlock_t guard;
static bool taken;
static struct waiter *first, **last = &first;
static int waiting;

static long hold_ms;

static uint64_t now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* False: the caller has the lock at once. */
static bool queue_up(struct waiter *w)
{
    bool wait;

    pthread_spin_lock(&guard);
    wait = taken;
    taken = true;
    if (wait) {
        w->next = NULL;
        *last = w;
        last = &w->next;
        __atomic_add_fetch(&waiting, 1, __ATOMIC_SEQ_CST);
    }
    pthread_spin_unlock(&guard);
    return wait;
}

/* Gives the lock to the next waiter. */
static struct waiter *hand_over(void)
{
    struct waiter *w;

    pthread_spin_lock(&guard);
    w = first;
    if (w) {
        first = w->next;
        if (!first)
            last = &first;
    } else {
        taken = false;
    }
    pthread_spin_unlock(&guard);
    return w;
}

/* ---- as in HotSpot ---- */

#define CALLED(name) __asm__(name) __attribute__((noinline))

static void park(struct waiter *w) CALLED("_ZN2os13PlatformEvent4parkEv");
static void unpark(struct waiter *w) CALLED("_ZN2os13PlatformEvent6unparkEv");
static void enter_slowly(struct waiter *w) CALLED("_ZN13ObjectMonitor6EnterIEP10JavaThread");
static void java_enter(struct waiter *w) CALLED("_ZN13ObjectMonitor5enterEP10JavaThread");
static void java_exit(void) CALLED("_ZN13ObjectMonitor4exitEP10JavaThreadb");

static void park(struct waiter *w)
{
    pthread_mutex_lock(&w->mutex);
    while (!w->told)
        pthread_cond_wait(&w->cond, &w->mutex);
    pthread_mutex_unlock(&w->mutex);
}

static void unpark(struct waiter *w)
{
    pthread_mutex_lock(&w->mutex);
    w->told = true;
    pthread_cond_signal(&w->cond);
    pthread_mutex_unlock(&w->mutex);
}

static void enter_slowly(struct waiter *w)
{
    park(w);
}

static void java_enter(struct waiter *w)
{
    if (queue_up(w))
        enter_slowly(w);
}

static void java_exit(void)
{
    struct waiter *w = hand_over();

    if (w)
        unpark(w);
}

/* ---- as in CPython ---- */

static void python_sleep(struct waiter *w) CALLED("_PySemaphore_Wait");
static void python_park(struct waiter *w) CALLED("_PyParkingLot_Park");
static void python_unpark(struct waiter *w) CALLED("_PyParkingLot_Unpark");
static void python_enter(struct waiter *w) CALLED("_PyMutex_LockTimed");
static void python_exit(void) CALLED("PyMutex_Unlock");
static void python_event(struct waiter *w) CALLED("PyEvent_WaitTimed");

static void python_sleep(struct waiter *w)
{
    while (sem_wait(&w->sem))
        ;
}

static void python_park(struct waiter *w)
{
    python_sleep(w);
}

static void python_unpark(struct waiter *w)
{
    sem_post(&w->sem);
}

static void python_enter(struct waiter *w)
{
    if (queue_up(w))
        python_park(w);
}

static void python_exit(void)
{
    struct waiter *w = hand_over();

    if (w)
        python_unpark(w);
}

static void python_event(struct waiter *w)
{
    python_park(w);
}

/* ---- as in no known program ---- */

__attribute__((noinline)) static void plain_enter(struct waiter *w)
{
    if (queue_up(w))
        while (sem_wait(&w->sem))
            ;
}

__attribute__((noinline)) static void plain_exit(void)
{
    struct waiter *w = hand_over();

    if (w)
        sem_post(&w->sem);
}

/* ---- as in most programs ---- */

static pthread_mutex_t till = PTHREAD_MUTEX_INITIALIZER;

/* glibc's mutex goes to any thread that locks it first, and no thread comes after w2. */
static void mutex_enter(struct waiter *w)
{
    queue_up(w);
    pthread_mutex_lock(&till);
}

static void mutex_exit(void)
{
    pthread_mutex_unlock(&till);
}

/* ---- the threads ---- */

static void (*enter)(struct waiter *w) = plain_enter;
static void (*leave)(void) = plain_exit;

struct worker {
    int number, tid;
    uint64_t begun, got, left, cpu;
};

__attribute__((noinline)) static void sell(struct worker *me, struct waiter *w)
{
    struct timespec pause = {.tv_sec = hold_ms / 1000, .tv_nsec = hold_ms % 1000 * 1000000};

    me->tid = truth_self();
    me->cpu = truth_cpu();
    me->begun = now();
    enter(w);
    me->got = now();
    me->cpu = truth_cpu() - me->cpu;
    if (me->number == 0)
        while (__atomic_load_n(&waiting, __ATOMIC_SEQ_CST) < 2)
            nanosleep(&(struct timespec){.tv_nsec = 100000}, NULL);
    if (me->number < 2)
        nanosleep(&pause, NULL);
    me->left = now();
    leave();
}

static struct waiter *done; /* on main's stack */

static void *serve(void *arg)
{
    struct worker *me = arg;
    struct waiter own = {.mutex = PTHREAD_MUTEX_INITIALIZER, .cond = PTHREAD_COND_INITIALIZER};
    char name[16];

    sem_init(&own.sem, 0, 0);
    snprintf(name, sizeof name, "w%d", me->number);
    pthread_setname_np(pthread_self(), name);
    /* Each thread begins to wait after the one before. */
    while (me->number && !(__atomic_load_n(&taken, __ATOMIC_SEQ_CST) &&
                           __atomic_load_n(&waiting, __ATOMIC_SEQ_CST) == me->number - 1))
        nanosleep(&(struct timespec){.tv_nsec = 100000}, NULL);
    sell(me, &own);
    if (me->number == 2)
        sem_post(&done->sem);
    return NULL;
}

static uint64_t overlap(const struct worker *waits, const struct worker *holds)
{
    uint64_t from = waits->begun > holds->got ? waits->begun : holds->got;
    uint64_t to = waits->got < holds->left ? waits->got : holds->left;

    return to > from ? to - from : 0;
}

/* A waiter gets the lock from its holder. The sleep ends where the waiter's turn begins, which is
 * between the times that the two threads measured. */
static void tell(const struct worker w[3])
{
    truth_between(w[1].tid, w[0].tid, w[1].begun, w[1].begun, w[0].left, w[1].got, w[1].cpu);
    truth_between(w[2].tid, w[0].tid, w[2].begun, w[2].begun, w[0].left, w[1].got, w[2].cpu);
    truth_between(w[2].tid, w[1].tid, w[0].left, w[1].got, w[1].left, w[2].got, w[2].cpu);
}

int main(int argc, char **argv)
{
    struct worker w[3] = {{.number = 0}, {.number = 1}, {.number = 2}};
    struct waiter all = {.next = NULL};
    pthread_t thread[3];

    if (argc != 3)
        return 2;
    if (strcmp(argv[1], "java") == 0) {
        enter = java_enter;
        leave = java_exit;
    } else if (strcmp(argv[1], "python") == 0) {
        enter = python_enter;
        leave = python_exit;
    } else if (strcmp(argv[1], "mutex") == 0) {
        enter = mutex_enter;
        leave = mutex_exit;
    }
    hold_ms = atol(argv[2]);
    pthread_spin_init(&guard, PTHREAD_PROCESS_PRIVATE);
    sem_init(&all.sem, 0, 0);
    done = &all;
    for (int i = 0; i < 3; i++)
        pthread_create(&thread[i], NULL, serve, &w[i]);
    if (enter == python_enter)
        python_event(&all);
    for (int i = 0; i < 3; i++)
        pthread_join(thread[i], NULL);
    tell(w);
    for (int i = 0; i < 2; i++)
        printf("w%d %llu\n", i,
               (unsigned long long)(overlap(&w[1], &w[i]) + overlap(&w[2], &w[i])));
    return 0;
}
