/*
 * tempfile.c: names of temporary files in a fixed list, which a signal handler reads.
 *
 * The handler may run while other threads add and remove names. So the state of each entry says
 * whose it is, and changes by compare-and-swap: a name is freed by the thread that takes the entry
 * from `made` to `busy`, and never once the handler has taken it to `removed`.
 */
#define _GNU_SOURCE
#include "common/files/tempfile.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <unistd.h>

#include "common/alloc.h"

static const int ending[] = {SIGINT, SIGTERM, SIGHUP, SIGPIPE};

enum state { EMPTY, BUSY, MADE, REMOVED };

static struct entry {
    _Atomic int state;
    pid_t owner;           /* forked children have the list, too */
    char *name;            /* a copy */
    _Atomic uintptr_t key; /* address of the name that was copied; 0 while empty or busy */
} entries[TEMPFILE_MOST];

static bool change(struct entry *e, int from, int to)
{
    return atomic_compare_exchange_strong(&e->state, &from, to);
}

void tempfile_remove_all(void)
{
    pid_t self = getpid();

    for (size_t i = 0; i < ARRAY_LEN(entries); i++)
        if (change(&entries[i], MADE, REMOVED) && entries[i].owner == self)
            unlink(entries[i].name);
}

static void remove_and_die(int sig)
{
    sigset_t set;

    tempfile_remove_all();
    signal(sig, SIG_DFL);
    sigemptyset(&set);
    sigaddset(&set, sig);
    raise(sig);
    pthread_sigmask(SIG_UNBLOCK, &set, NULL);
    _exit(128 + sig); /* the first process of a container does not die of signals */
}

static void fill(sigset_t *set)
{
    sigemptyset(set);
    for (size_t i = 0; i < ARRAY_LEN(ending); i++)
        sigaddset(set, ending[i]);
}

static void take_signals(void)
{
    struct sigaction sa = {.sa_handler = remove_and_die}, was;

    fill(&sa.sa_mask); /* a second signal must not end the process between two files */
    for (size_t i = 0; i < ARRAY_LEN(ending); i++)
        if (sigaction(ending[i], NULL, &was) == 0 && !(was.sa_flags & SA_SIGINFO) &&
            was.sa_handler == SIG_DFL)
            sigaction(ending[i], &sa, NULL);
}

static void remember(const char *name)
{
    for (size_t i = 0; i < ARRAY_LEN(entries); i++)
        if (change(&entries[i], EMPTY, BUSY)) {
            entries[i].owner = getpid();
            entries[i].name = xstrdup(name);
            atomic_store(&entries[i].key, (uintptr_t)name);
            change(&entries[i], BUSY, MADE);
            return;
        }
}

int tempfile_make(char *name)
{
    sigset_t set, before;
    int fd;

    fill(&set);
    pthread_sigmask(SIG_BLOCK, &set, &before);
    fd = mkostemp(name, O_CLOEXEC);
    fd = fd < 0 ? -errno : fd;
    if (fd >= 0) {
        remember(name);
        take_signals();
    }
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return fd;
}

void tempfile_forget(const char *name)
{
    for (size_t i = 0; i < ARRAY_LEN(entries); i++) {
        struct entry *e = &entries[i];

        if (atomic_load(&e->key) != (uintptr_t)name || !change(e, MADE, BUSY))
            continue;
        free(e->name);
        e->name = NULL;
        atomic_store(&e->key, 0);
        change(e, BUSY, EMPTY);
    }
}
