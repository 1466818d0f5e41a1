/*
 * signal_forward.h: the signals of a program that runs a command for somebody.
 *
 * While the command runs, SIGINT and SIGQUIT of the terminal are the command's alone,
 * and SIGTERM, SIGHUP, SIGUSR1 and SIGUSR2 that a process sends to us are passed on to
 * another process. A signal that the terminal raised (hangup) has reached the whole
 * process group, the command included, and is not passed on. What we were told to ignore
 * (nohup) we go on ignoring.
 *
 * Other signals that would end us, which the command sends to its process group, are outlived
 * (common/signals/signal_outlive.h).
 *
 * One of those that are passed on may be kept instead: it is for us, and the other process does not
 * see it.
 *
 * One at a time in a process: signal handlers need a global.
 */
#ifndef FLAME_COMMON_SIGNALS_SIGNAL_FORWARD_H
#define FLAME_COMMON_SIGNALS_SIGNAL_FORWARD_H

#include <semaphore.h>
#include <signal.h>
#include <sys/types.h>

#include "common/compiler.h"

#define SIGNAL_FORWARD_SIGNALS 6

struct signal_forward_saved {
    struct sigaction action[SIGNAL_FORWARD_SIGNALS];
    sigset_t mask;
};

/* From the next signal_forward_take on `sig`, one of those that are passed on, is not: each that
 * a process sends is posted to *sent. 0 and NULL: none is kept any more. One that is kept when the
 * others are put back has no effect from then on, as it may come a moment too late. */
void signal_forward_keep(int sig, sem_t *sent);

/* Takes the signals over and blocks those that are passed on, so that none is lost before
 * signal_forward_to. *saved is what was there before. */
void signal_forward_take(struct signal_forward_saved *saved);
/* Passes the signals on to `pid` from now on (0: to nobody), and unblocks them. */
void signal_forward_to(pid_t pid, const struct signal_forward_saved *saved);
/* Restores what was there before, but for a signal that is kept. */
void signal_forward_put_back(const struct signal_forward_saved *saved);
/* In a child that is about to execute the command, whose memory may be its parent's: all of it. */
void signal_forward_put_back_all(const struct signal_forward_saved *saved);

#endif
