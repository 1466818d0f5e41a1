/*
 * signal_forward.h: the signals of a program that runs a command for somebody.
 *
 * While the command runs, SIGINT and SIGQUIT of the terminal are the command's alone,
 * and SIGTERM, SIGHUP, SIGUSR1 and SIGUSR2 that a process sends to us are passed on to
 * another process. A signal that the terminal raised (hangup) has reached the whole
 * process group, the command included, and is not passed on. What we were told to ignore
 * (nohup) we go on ignoring.
 *
 * One at a time in a process: signal handlers need a global.
 */
#ifndef FLAME_COMMON_SIGNAL_FORWARD_H
#define FLAME_COMMON_SIGNAL_FORWARD_H

#include <signal.h>
#include <sys/types.h>

#include "common/compiler.h"

#define SIGNAL_FORWARD_SIGNALS 6

struct signal_forward_saved {
    struct sigaction action[SIGNAL_FORWARD_SIGNALS];
    sigset_t mask;
};

/* Takes the signals over and blocks those that are passed on, so that none is lost before
 * signal_forward_to. *saved is what was there before. */
void signal_forward_take(struct signal_forward_saved *saved);
/* Passes the signals on to `pid` from now on (0: to nobody), and unblocks them. */
void signal_forward_to(pid_t pid, const struct signal_forward_saved *saved);
/* Restores what was there before: in a child that is about to execute the command, and at the
 * end. */
void signal_forward_put_back(const struct signal_forward_saved *saved);

#endif
