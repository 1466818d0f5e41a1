/*
 * firstborn HOW: the first process of a pid namespace, which the kernel lets no signal end but one
 * that it has caused itself; prints how that ended: "exited N" or "signal N". HOW is one of:
 *
 *   fault    reads from an unmapped address
 *   thread   like fault, in a second thread, while the first one waits
 *   trap     executes an invalid instruction
 *   blocked  fault, with the signal blocked
 *   caught   fault, with a handler that continues elsewhere
 *   sent     sends itself the signal, which the kernel drops
 *   waits    prints "ready", and faults when standard input ends
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

static sigjmp_buf away;

static void *fault(void *arg)
{
    volatile int *volatile nowhere = (int *)8; /* NOLINT */

    usleep(2000);
    (void)*nowhere;
    return arg;
}

static void caught(int sig)
{
    siglongjmp(away, sig);
}

static int live(const char *how)
{
    pthread_t t;
    sigset_t set;
    char c;

    if (strcmp(how, "thread") == 0) {
        pthread_create(&t, NULL, fault, NULL);
        pthread_join(t, NULL);
    } else if (strcmp(how, "trap") == 0) {
        __builtin_trap();
    } else if (strcmp(how, "blocked") == 0) {
        sigfillset(&set);
        sigprocmask(SIG_BLOCK, &set, NULL);
        fault(NULL);
    } else if (strcmp(how, "caught") == 0) {
        signal(SIGSEGV, caught);
        if (sigsetjmp(away, 1) == 0)
            fault(NULL);
        usleep(2000);
        return 3;
    } else if (strcmp(how, "sent") == 0) {
        kill(getpid(), SIGSEGV);
        usleep(2000);
        return 4;
    } else if (strcmp(how, "waits") == 0) {
        puts("ready");
        fflush(stdout);
        while (read(0, &c, 1) > 0)
            ;
    }
    fault(NULL);
    return 2;
}

int main(int argc, char **argv)
{
    struct rlimit none = {0, 0};
    int status;
    pid_t pid;

    setrlimit(RLIMIT_CORE, &none);
    if (unshare(CLONE_NEWPID) < 0 && unshare(CLONE_NEWUSER | CLONE_NEWPID) < 0) {
        puts("not permitted");
        return 77;
    }
    pid = fork();
    if (pid == 0)
        _exit(live(argc > 1 ? argv[1] : "fault"));
    if (pid < 0 || waitpid(pid, &status, 0) != pid)
        return 2;
    if (WIFSIGNALED(status))
        printf("signal %d\n", WTERMSIG(status));
    else
        printf("exited %d\n", WEXITSTATUS(status));
    return 0;
}
