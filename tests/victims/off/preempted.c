/*
 * Two stacks of one thread that a timer's handler switches between (swapcontext), wherever they
 * are: in calls, before and behind them. Says how many calls went wrong.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/time.h>
#include <ucontext.h>
#include <unistd.h>

#define CALLS 60000
#define STACK 65536

static ucontext_t context[3];
static int at = 1, pipes[3][2];
static volatile int made, wrong;

static void switch_over(int sig)
{
    int from = at;

    (void)sig;
    at = 3 - at;
    swapcontext(&context[from], &context[at]);
}

static void set_timer(long us)
{
    struct itimerval it = {{0, us}, {0, us}};

    setitimer(ITIMER_REAL, &it, NULL);
}

static void call(int which)
{
    char c = 'x';
    sigset_t alarm;

    sigemptyset(&alarm);
    sigaddset(&alarm, SIGALRM);
    sigprocmask(SIG_UNBLOCK, &alarm, NULL);

    while (made < CALLS) {
        if (write(pipes[which][1], &c, 1) != 1 || read(pipes[which][0], &c, 1) != 1)
            wrong++;
        made++;
    }
    set_timer(0);
    setcontext(&context[0]);
}

int main(void)
{
    static char stacks[2][STACK];
    struct sigaction sa = {.sa_handler = switch_over, .sa_flags = SA_RESTART};

    sigaction(SIGALRM, &sa, NULL);
    for (int i = 1; i < 3; i++) {
        if (pipe(pipes[i]) < 0)
            return 3;
        getcontext(&context[i]);
        /* Not before it is on its own stack. */
        sigaddset(&context[i].uc_sigmask, SIGALRM);
        context[i].uc_stack.ss_sp = stacks[i - 1];
        context[i].uc_stack.ss_size = STACK;
        makecontext(&context[i], (void (*)(void))call, 1, i);
    }
    set_timer(100);
    swapcontext(&context[0], &context[1]);
    printf("%d wrong\n", wrong);
    return 0;
}
