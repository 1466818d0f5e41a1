/*
 * The handler posts a semaphore, and a thread waits for it. Signals may come faster than samples
 * can be taken. Each signal still counts as a pass: a sample counts all signals that had come when
 * the trace was read.
 *
 * Rejected: a signal to the program, because it may use it, block it, or have a system call
 * interrupted by it, and among several processes none is the right one.
 */
#include "driver/monitor/growthsignal.h"

#include <errno.h>
#include <semaphore.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "common/alloc.h"
#include "common/signals/signal_forward.h"
#include "driver/monitor/periodic_thread.h"

#define NEVER_MS 1000000000u

struct growthsignal {
    growthsignal_look *look;
    void *arg;
    struct periodic_thread *ticker;
    sem_t sent;
    atomic_bool over;
    uint64_t passes;
};

int growthsignal_parse(const char *name)
{
    if (strncmp(name, "SIG", 3) == 0)
        name += 3;
    return strcmp(name, "USR1") == 0 ? SIGUSR1 : strcmp(name, "USR2") == 0 ? SIGUSR2 : 0;
}

/* Passes whose signals come while a sample is taken have ended, too. */
double growthsignal_passes(void *arg)
{
    struct growthsignal *s = arg;
    int waiting = 0;

    sem_getvalue(&s->sent, &waiting);
    return (double)(s->passes + (uint64_t)waiting);
}

/* A periodic_thread_work: waits for a pass to end. */
static unsigned wait_and_look(void *arg)
{
    struct growthsignal *s = arg;
    uint64_t ended = 1;

    while (sem_wait(&s->sent) != 0 && errno == EINTR)
        ;
    if (atomic_load(&s->over))
        return NEVER_MS;
    while (sem_trywait(&s->sent) == 0)
        ended++;
    s->passes += ended;
    s->look(s->arg);
    return 0;
}

struct growthsignal *growthsignal_start(int sig, growthsignal_look *look, void *arg)
{
    struct growthsignal *s = xcalloc(1, sizeof *s);

    s->look = look;
    s->arg = arg;
    sem_init(&s->sent, 0, 0);
    s->ticker = periodic_thread_start(wait_and_look, 0, s);
    if (s->ticker) {
        signal_forward_keep(sig, &s->sent);
        return s;
    }
    sem_destroy(&s->sent);
    free(s);
    return NULL;
}

void growthsignal_stop(struct growthsignal *s)
{
    if (!s)
        return;
    signal_forward_keep(0, NULL);
    atomic_store(&s->over, true);
    sem_post(&s->sent);
    periodic_thread_stop(s->ticker);
    sem_destroy(&s->sent);
    free(s);
}
