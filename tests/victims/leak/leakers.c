/*
 * leakers.c: processes and threads that each leak what their names say.
 *
 *   leakers            a thread called "worker" leaks 5,000 bytes in worker_leaks(), and main
 *                      a list of 2 times 104 bytes in chain_leaks() and a block without bytes
 *   leakers many:N     N functions' worth of leaks, the i-th of i bytes, all different stacks
 *   leakers fork:N     N children, each leaks 300 bytes in child_leaks()
 *   leakers fail       leaks 10 bytes and fails with 5
 *   leakers killed     leaks 10 bytes and is killed
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

struct link {
    struct link *next;
    char bytes[96];
};

static void *volatile sink;

__attribute__((noinline)) static void forget(void)
{
    sink = NULL;
}

__attribute__((noinline)) static void chain_leaks(void)
{
    struct link *first = malloc(sizeof *first);

    first->next = malloc(sizeof *first);
    first->next->next = NULL;
    sink = first;
    forget();
}

__attribute__((noinline)) static void *worker_leaks(void *unused)
{
    pthread_setname_np(pthread_self(), "worker");
    sink = malloc(5000);
    forget();
    return unused;
}

__attribute__((noinline)) static void child_leaks(void)
{
    sink = malloc(300);
    forget();
}

/* A stack of its own for each depth. */
__attribute__((noinline)) static void leak_deeper(int depth, size_t size)
{
    if (depth > 1)
        leak_deeper(depth - 1, size);
    else
        sink = malloc(size);
    forget();
}

static void leak_in_children(int n)
{
    while (n-- > 0) {
        if (fork() == 0) {
            child_leaks();
            exit(0);
        }
        wait(NULL);
    }
}

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "";
    pthread_t thread;

    if (strncmp(what, "many:", 5) == 0) {
        for (int i = 1; i <= atoi(what + 5); i++)
            leak_deeper(i, (size_t)i);
        return 0;
    }
    if (strncmp(what, "fork:", 5) == 0) {
        leak_in_children(atoi(what + 5));
        return 0;
    }
    if (strcmp(what, "fail") == 0) {
        leak_deeper(1, 10);
        return 5;
    }
    if (strcmp(what, "killed") == 0) {
        leak_deeper(1, 10);
        raise(SIGKILL);
    }
    if (pthread_create(&thread, NULL, worker_leaks, NULL) != 0)
        return 99;
    pthread_join(thread, NULL);
    chain_leaks();
    leak_deeper(1, 0);
    return 0;
}
