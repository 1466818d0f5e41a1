/*
 * Threads whose stacks grow down into addresses that were free a moment ago, as with MAP_GROWSDOWN.
 * Each sleeps first, in a logged call, for which it gets its ring. The kernel ends a thread's
 * process if other memory is there, or near it (stack_guard_gap: 256 pages). Prints how many lived.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#define PAGE 4096
#define GUARD (256 * PAGE)
#define STACK (128 * 1024)
#define MAPPED (32 * 1024)

static __attribute__((noinline)) void *go_down(volatile char *limit)
{
    volatile char here[512];

    here[0] = 1;
    if (here < limit)
        return NULL;
    go_down(limit);
    return here[0] ? NULL : (void *)limit; /* so that this is no loop */
}

static void *thread(void *stack)
{
    usleep(20000);
    return go_down((char *)stack + 2 * PAGE);
}

static void grow(void)
{
    char *start =
        mmap(NULL, GUARD + STACK, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    pthread_attr_t attr;
    pthread_t t;

    munmap(start, GUARD + STACK);
    if (mmap(start + GUARD + STACK - MAPPED, MAPPED, PROT_READ | PROT_WRITE,
             MAP_FIXED | MAP_PRIVATE | MAP_ANONYMOUS | MAP_GROWSDOWN, -1, 0) == MAP_FAILED)
        exit(2);
    pthread_attr_init(&attr);
    if (pthread_attr_setstack(&attr, start + GUARD, STACK) != 0 ||
        pthread_create(&t, &attr, thread, start + GUARD) != 0)
        exit(3);
    pthread_join(t, NULL);
    exit(0);
}

int main(void)
{
    int lived = 0, status;

    for (int i = 0; i < 3; i++) {
        pid_t pid = fork();

        if (pid == 0)
            grow();
        waitpid(pid, &status, 0);
        lived += status == 0;
    }
    printf("%d\n", lived);
    return 0;
}
