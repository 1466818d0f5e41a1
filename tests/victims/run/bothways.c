/*
 * Allocates and waits, in ways that are the same in every run: threads that allocate while they
 * hold the lock that the others wait for, calls that reach the kernel through hooks of the
 * recorder, a forked child for which its parent waits, and the parent's pipe for which the child
 * waits.
 *
 *     bothways [PROGRAM ARGUMENT...]     executes that in the end
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define THREADS 3
#define ROUNDS 5
#define NAP_NS 4000000
#define LONG_NAP_NS (20 * NAP_NS) /* so long that a child has begun meanwhile */

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_barrier_t all;
static void *volatile kept;

static __attribute__((noinline)) void nap(long ns)
{
    struct timespec t = {0, ns};

    nanosleep(&t, NULL);
}

static __attribute__((noinline)) void nap_by_number(void)
{
    struct timespec t = {0, NAP_NS};

    syscall(SYS_nanosleep, &t, NULL);
}

/* The second and third thread wait for the lock: the first holds it while all have passed the
 * barrier and slept. */
static __attribute__((noinline)) void hold_lock(size_t size)
{
    pthread_mutex_lock(&lock);
    kept = malloc(size);
    memset(kept, 1, size);
    nap(NAP_NS);
    free(kept);
    pthread_mutex_unlock(&lock);
}

static void *worker(void *arg)
{
    (void)arg;
    for (size_t i = 0; i < ROUNDS; i++) {
        pthread_barrier_wait(&all);
        hold_lock(1000);
    }
    return NULL;
}

static void run_threads(void)
{
    pthread_t threads[THREADS];

    pthread_barrier_init(&all, NULL, THREADS);
    for (size_t i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, worker, NULL);
    for (size_t i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
}

static __attribute__((noinline)) void allocate(size_t n)
{
    for (size_t i = 0; i < n; i++) {
        void **block = malloc(40 + i % 100);

        *block = kept;
        kept = block;
    }
}

static __attribute__((noinline)) void child_reads(int from)
{
    char c = 0;

    kept = NULL;
    allocate(50);
    if (read(from, &c, 1) != 1)
        _exit(1);
    nap(LONG_NAP_NS); /* its parent waits for its end */
    _exit(0);
}

static void run_child(void)
{
    int pipes[2];
    pid_t pid;

    if (pipe(pipes) < 0)
        exit(1);
    pid = fork();
    if (pid == 0)
        child_reads(pipes[0]);
    nap(LONG_NAP_NS);
    if (write(pipes[1], "", 1) != 1)
        exit(1);
    waitpid(pid, NULL, 0);
    nap(LONG_NAP_NS); /* a search for traces of processes that have ended finds one */
}

int main(int argc, char **argv)
{
    allocate(2000);
    kept = mmap(NULL, 1 << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    kept = NULL;
    run_threads();
    nap_by_number();
    run_child();
    if (argc > 1)
        execvp(argv[1], argv + 1);
    return 5;
}
