/*
 * passon.h: the signals of a program that runs a command for somebody.
 *
 * While the command runs, SIGINT and SIGQUIT of the terminal are the command's alone,
 * and SIGTERM, SIGHUP, SIGUSR1 and SIGUSR2 that a process sends to us are passed on to
 * another process. A signal that the terminal raised (hangup) has reached the whole
 * process group, the command included, and is not passed on. What we were told to ignore
 * (nohup) we go on ignoring.
 *
 * One at a time in a process: signal handlers need a global.
 */
#ifndef FLAME_COMMON_PASSON_H
#define FLAME_COMMON_PASSON_H

#include <signal.h>
#include <sys/types.h>

#include "common/compiler.h"

#define PASSON_SIGNALS 6

struct passon_saved {
    struct sigaction action[PASSON_SIGNALS];
    sigset_t mask;
};

/* Takes the signals over and blocks those that are passed on, so that none is lost before
 * passon_to. *saved is what was there before. */
void passon_take(struct passon_saved *saved);
/* Where they go from now on, 0: nowhere; and lets them through. */
void passon_to(pid_t pid, const struct passon_saved *saved);
/* What was there before. In a child about to execute the command, and at the end. */
void passon_put_back(const struct passon_saved *saved);

#endif
