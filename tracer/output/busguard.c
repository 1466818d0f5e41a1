#define _GNU_SOURCE
#include "tracer/output/busguard.h"

#include <pthread.h>
#include <signal.h>

static struct busguard *first;
static struct sigaction before;

/* The fault repeats when the handler returns. */
static void pass_on(int sig, siginfo_t *info, void *context)
{
    if (before.sa_flags & SA_SIGINFO) {
        before.sa_sigaction(sig, info, context);
        return;
    }
    sigaction(sig, &before, NULL);
    if (info->si_code <= 0)
        pthread_kill(pthread_self(), sig);
}

static void on_bus(int sig, siginfo_t *info, void *context)
{
    struct busguard *g = __atomic_load_n(&first, __ATOMIC_ACQUIRE);

    for (; g && info->si_code == BUS_ADRERR; g = g->next)
        if (trace_writer_detach(g->writer, info->si_addr))
            return;
    pass_on(sig, info, context);
}

static void take_signal(void)
{
    struct sigaction ours = {.sa_sigaction = on_bus, .sa_flags = SA_SIGINFO | SA_RESTART}, was;
    sigset_t bus;

    if (sigaction(SIGBUS, NULL, &was) == 0 && was.sa_sigaction != on_bus) {
        before = was;
        sigaction(SIGBUS, &ours, NULL);
    }
    sigemptyset(&bus);
    sigaddset(&bus, SIGBUS);
    pthread_sigmask(SIG_UNBLOCK, &bus, NULL);
}

void busguard_add(struct busguard *g, struct trace_writer *writer)
{
    take_signal();
    *g = (struct busguard){writer, first};
    __atomic_store_n(&first, g, __ATOMIC_RELEASE);
}

void busguard_drop(const struct busguard *g)
{
    struct busguard **at = &first;

    while (*at && *at != g)
        at = &(*at)->next;
    if (*at)
        __atomic_store_n(at, g->next, __ATOMIC_RELEASE);
}
