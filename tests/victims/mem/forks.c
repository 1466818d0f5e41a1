/*
 * The parent holds 100 blocks of 10 bytes and forks (argv[1]: fork, raw, vfork,
 * threads: fork while other threads allocate). The child frees 30 of them and
 * allocates 7 blocks of 1000 bytes, of which 5 stay. The parent allocates one
 * of 123 afterwards.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define PLAIN __attribute__((noinline, noclone))

static void *blocks[100], *fresh[7];
static volatile int sink, stop;

PLAIN static void inherited(void)
{
    for (int i = 0; i < 100; i++)
        blocks[i] = malloc(10);
    sink++;
}

PLAIN static void child_work(void)
{
    for (int i = 0; i < 30; i++)
        free(blocks[i]);
    for (int i = 0; i < 7; i++)
        fresh[i] = malloc(1000);
    free(fresh[0]);
    free(fresh[1]);
    sink++;
}

static void *churn(void *arg)
{
    do
        free(malloc(64)); /* once at least: a busy machine may run the thread last */
    while (!stop);
    return arg;
}

int main(int argc, char **argv)
{
    const char *how = argc > 1 ? argv[1] : "fork";
    pthread_t t[3];
    pid_t pid;
    int status, threads = strcmp(how, "threads") == 0;

    inherited();
    for (int i = 0; threads && i < 3; i++)
        if (pthread_create(&t[i], NULL, churn, NULL))
            return 1;
    if (strcmp(how, "vfork") == 0) {
        pid = vfork();
        if (pid == 0)
            _exit(malloc(31) ? 9 : 8); /* shares the parent's memory: counts as the parent's */
    } else {
        pid = strcmp(how, "raw") == 0 ? (pid_t)syscall(SYS_fork) : fork();
        if (pid == 0) {
            child_work();
            _exit(9);
        }
    }
    if (pid < 0 || waitpid(pid, &status, 0) != pid)
        return 2;
    stop = 1;
    for (int i = 0; threads && i < 3; i++)
        pthread_join(t[i], NULL);
    blocks[0] = malloc(123);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 3;
}
