/*
 * A program that asks for SIGSEGV whenever the processor's counter is read, and then sleeps: by
 * itself, in a thread that it makes then, in a child, and in a program that the child executes
 * ("exec", which then comes here with "sleep"). It reads no clock. Prints what came of it.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static __attribute__((noinline)) int nap(void)
{
    struct timespec t = {0, 20000000};

    return nanosleep(&t, NULL);
}

static void *thread(void *arg)
{
    return nap() == 0 ? arg : NULL;
}

int main(int argc, char **argv)
{
    char *again[] = {argv[0], (char *)"sleep", NULL};
    int state = 0, status;
    pthread_t t;
    void *result;
    pid_t pid;

    if (argc > 1 && strcmp(argv[1], "sleep") == 0)
        return prctl(PR_GET_TSC, &state) != 0 || state != PR_TSC_SIGSEGV || nap() != 0;
    nap();
    if (prctl(PR_SET_TSC, PR_TSC_SIGSEGV) != 0)
        return 77;
    nap();
    pthread_create(&t, NULL, thread, &t);
    pthread_join(t, &result);
    pid = fork();
    if (pid == 0) {
        nap();
        if (argc > 1)
            execv(argv[0], again);
        _exit(0);
    }
    waitpid(pid, &status, 0);
    prctl(PR_GET_TSC, &state);
    printf("%d %d %d\n", state == PR_TSC_SIGSEGV, result == &t, status);
    return 0;
}
