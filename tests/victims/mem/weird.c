/*
 * Stacks that are not plain: signal handlers on an alternate stack that
 * allocate, longjmp out of them, coroutines by ucontext, threads that free in
 * their last destructors, blocks over 4 GiB, thousands of short threads.
 * Ends with 0 when all behaved.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <ucontext.h>
#include <unistd.h>

static sigjmp_buf back;
static ucontext_t main_context, coroutine;
static pthread_key_t key;
static void *volatile sink;
static int rounds; /* static: longjmp may clobber locals */

static void handler(int sig)
{
    sink = malloc(77);
    free(sink);
    if (sig == SIGUSR2)
        siglongjmp(back, 1);
}

static void in_coroutine(void)
{
    for (int i = 0; i < 10; i++) {
        sink = malloc(88);
        swapcontext(&coroutine, &main_context);
        free(sink);
    }
}

static void last_rites(void *p)
{
    static __thread int times;

    free(p);
    if (++times < 4)
        pthread_setspecific(key, malloc(55));
}

static void *short_life(void *arg)
{
    pthread_setspecific(key, malloc(66));
    return arg;
}

int main(void)
{
    static char alt[65536];
    stack_t ss = {.ss_sp = alt, .ss_size = sizeof alt};
    struct sigaction sa = {.sa_handler = handler, .sa_flags = SA_ONSTACK};
    void *big;

    sigaltstack(&ss, NULL);
    sigaction(SIGUSR1, &sa, NULL);
    sigaction(SIGUSR2, &sa, NULL);
    for (; rounds < 100; rounds++) {
        raise(SIGUSR1);
        if (sigsetjmp(back, 1) == 0)
            raise(SIGUSR2);
    }

    getcontext(&coroutine);
    coroutine.uc_stack.ss_sp = malloc(65536);
    coroutine.uc_stack.ss_size = 65536;
    coroutine.uc_link = &main_context;
    makecontext(&coroutine, in_coroutine, 0);
    for (int i = 0; i < 11; i++)
        swapcontext(&main_context, &coroutine);
    free(coroutine.uc_stack.ss_sp);

    pthread_key_create(&key, last_rites);
    for (int i = 0; i < 600; i++) {
        pthread_t t[4];

        for (int k = 0; k < 4; k++)
            if (pthread_create(&t[k], NULL, short_life, NULL))
                return 1;
        for (int k = 0; k < 4; k++)
            pthread_join(t[k], NULL);
    }

    big = malloc((size_t)5 << 30);
    if (!big)
        return 2;
    big = realloc(big, (size_t)6 << 30);
    if (!big)
        return 3;
    free(big);
    sink = malloc(99);
    return 0;
}
