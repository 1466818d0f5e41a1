/*
 * signal_forward.h: signal handling of a program that runs a command for its user.
 *
 * While the command runs, SIGINT and SIGQUIT of the terminal are the command's alone, and SIGTERM,
 * SIGHUP, SIGUSR1 and SIGUSR2 that a process sends to us are forwarded to another process. A signal
 * that the terminal raised (hangup) has reached the whole process group, the command included, and
 * is not forwarded. Signals that were ignored at our start (nohup) remain ignored.
 *
 * Other signals that would end us, which the command sends to its process group, are outlived
 * (common/signals/signal_outlive.h).
 *
 * One of the forwarded signals may be reserved instead: it is for us, and the other process does
 * not see it.
 *
 * Only one use at a time in a process: signal handlers need a global.
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

/* From the next signal_forward_take on `sig`, one of the forwarded signals, is reserved: each that
 * a process sends is posted to *sent. 0 and NULL: no signal is reserved any more. When the others
 * are restored, a reserved signal has no effect from then on, as it may come a moment too late. */
void signal_forward_keep(int sig, sem_t *sent);

/* Takes the signals over and blocks the forwarded ones, so that none is lost before
 * signal_forward_to. *saved gets the previous handlers. */
void signal_forward_take(struct signal_forward_saved *saved);
/* Forwards the signals to `pid` from now on (0: to no process), and unblocks them. */
void signal_forward_to(pid_t pid, const struct signal_forward_saved *saved);
/* Restores the previous handlers, except that of a reserved signal. */
void signal_forward_put_back(const struct signal_forward_saved *saved);
/* Restores all previous handlers: for a child that is about to execute the command, whose memory
 * may be its parent's. */
void signal_forward_put_back_all(const struct signal_forward_saved *saved);

#endif
