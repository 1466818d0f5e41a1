/* Two processes that share memory, and a thread's own memory too, take turns 2,000 times. */
#define _GNU_SOURCE
#include <linux/futex.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static int turn;

static void take_turns(int mine)
{
    for (int i = 0; i < 2000; i++) {
        while (__atomic_load_n(&turn, __ATOMIC_SEQ_CST) != mine)
            syscall(SYS_futex, &turn, FUTEX_WAIT, !mine, NULL, NULL, 0);
        __atomic_store_n(&turn, !mine, __ATOMIC_SEQ_CST);
        syscall(SYS_futex, &turn, FUTEX_WAKE, 1, NULL, NULL, 0);
    }
}

static int other(void *arg)
{
    (void)arg;
    take_turns(1);
    return 0;
}

int main(void)
{
    struct timespec t = {0, 1000};
    char *stack = malloc(65536);
    int child;

    nanosleep(&t, NULL);
    child = clone(other, stack + 65536, CLONE_VM | SIGCHLD, NULL);
    take_turns(0);
    return waitpid(child, NULL, 0) != child;
}
