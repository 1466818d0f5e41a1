/*
 * Programs whose memory changes from pass to pass; nothing of it is ever lost. The first argument
 * is how many passes, the others are what there is, each in a function of its own:
 *
 *   list     each pass adds a node of 104 bytes, which holds a name of 28
 *   buffer   one block that each pass makes 256 bytes longer
 *   threads  each pass adds 64 bytes in a thread of its own
 *   chunks   each second pass adds 4096 bytes
 *   empty    each pass adds a block of no bytes
 *   noise    each pass adds 1000 bytes, with 200 more or less beside them that are gone later
 *   cache    the first half of the passes each add 100 bytes
 *   array    one block that doubles as it fills, 8 bytes a pass
 *   warm     80 KB in the third pass
 *   comes    each pass allocates 500 bytes and frees them
 *   shrinks  each pass frees 100 bytes
 *   pause    a pass begins every 20 ms; those that the machine made late follow at once, and how
 *            late the latest was is printed
 *   unmarked no mark is set
 *   asked    each pass waits for a byte on standard input, and writes one to standard output;
 *            SIGUSR1 is counted
 *   two      a second name is marked every other pass
 *   fork     half of the passes are a child's
 */
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "preload/flamemem.h"

struct node {
    struct node *next;
    char *name;
    char rest[88];
};

static struct node *list;
static void *volatile held[1 << 16];
static size_t nheld;
static int first, passes;

__attribute__((noinline)) static char *make_name(void)
{
    return malloc(28);
}

__attribute__((noinline)) static void grow_list(void)
{
    struct node *n = malloc(sizeof *n);

    n->next = list;
    n->name = make_name();
    list = n;
}

__attribute__((noinline)) static void grow_buffer(int pass)
{
    static char *buffer;

    buffer = realloc(buffer, 256 * (size_t)(pass + 1));
}

static void *hold_in_thread(void *arg)
{
    held[nheld++] = malloc(64);
    return arg;
}

static void grow_in_threads(void)
{
    pthread_t thread;

    pthread_create(&thread, NULL, hold_in_thread, NULL);
    pthread_join(thread, NULL);
}

__attribute__((noinline)) static void grow_chunks(int pass)
{
    if (pass % 2 == 0)
        held[nheld++] = malloc(4096);
}

__attribute__((noinline)) static void grow_empty(void)
{
    held[nheld++] = malloc(0);
}

__attribute__((noinline)) static void grow_noisily(int pass)
{
    static void *beside;
    static unsigned seed = 1;

    held[nheld++] = malloc(1000);
    free(beside);
    seed = seed * 1103515245 + 12345;
    beside = malloc(1 + (seed >> 16) % 200 + (size_t)(pass & 1));
}

__attribute__((noinline)) static void fill_cache(int pass)
{
    if (pass < passes / 2)
        held[nheld++] = malloc(100);
}

__attribute__((noinline)) static void fill_array(int pass)
{
    static size_t room = 1;
    static long *array;

    if (!array || (size_t)pass >= room)
        array = realloc(array, (room *= 2) * sizeof *array);
    array[pass] = pass;
}

__attribute__((noinline)) static void warm_up(int pass)
{
    if (pass == 2)
        held[nheld++] = malloc(80000);
}

__attribute__((noinline)) static void come_and_go(void)
{
    void *volatile p = malloc(500);

    free(p);
}

__attribute__((noinline)) static void shrink(int pass)
{
    static void *blocks[1 << 16];

    for (int i = 0; pass == 0 && i < passes; i++)
        blocks[i] = malloc(100);
    free(blocks[pass]);
}

static bool is_asked(char **argv, const char *what)
{
    for (; *argv; argv++)
        if (strcmp(*argv, what) == 0)
            return true;
    return false;
}

static int64_t now_ns(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static int64_t due_ns, latest_ns;

static void wait_for_next(void)
{
    int64_t late;

    due_ns = (due_ns ? due_ns : now_ns()) + 20000000;
    clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME,
                    &(struct timespec){due_ns / 1000000000, due_ns % 1000000000}, NULL);
    late = now_ns() - due_ns;
    if (late > latest_ns)
        latest_ns = late;
}

static void do_pass(char **argv, int pass)
{
    if (is_asked(argv, "list"))
        grow_list();
    if (is_asked(argv, "buffer"))
        grow_buffer(pass);
    if (is_asked(argv, "threads"))
        grow_in_threads();
    if (is_asked(argv, "chunks"))
        grow_chunks(pass);
    if (is_asked(argv, "empty"))
        grow_empty();
    if (is_asked(argv, "noise"))
        grow_noisily(pass);
    if (is_asked(argv, "cache"))
        fill_cache(pass);
    if (is_asked(argv, "array"))
        fill_array(pass);
    if (is_asked(argv, "warm"))
        warm_up(pass);
    if (is_asked(argv, "comes"))
        come_and_go();
    if (is_asked(argv, "shrinks"))
        shrink(pass);
    if (is_asked(argv, "pause"))
        wait_for_next();
}

static volatile sig_atomic_t signals;

static void count_signal(int sig)
{
    signals += sig == SIGUSR1;
}

/* False: the pass is not asked for any more. */
static bool is_asked_for_pass(int pass)
{
    char c = '\n';

    return (pass == first || write(STDOUT_FILENO, &c, 1) == 1) && read(STDIN_FILENO, &c, 1) == 1;
}

int main(int argc, char **argv)
{
    int marked = 0;

    if (argc < 2)
        return 1;
    passes = atoi(argv[1]);
    if (is_asked(argv + 2, "asked"))
        signal(SIGUSR1, count_signal);
    for (int pass = first; pass < passes; pass++) {
        if (is_asked(argv + 2, "asked") && !is_asked_for_pass(pass))
            break;
        do_pass(argv + 2, pass);
        if (is_asked(argv + 2, "unmarked"))
            continue;
        marked += flamemem_mark("pass");
        if (is_asked(argv + 2, "two") && pass % 2)
            flamemem_mark("second pass");
        if (is_asked(argv + 2, "fork") && pass == passes / 2 && fork() > 0) {
            wait(NULL);
            return 0;
        }
    }
    if (is_asked(argv + 2, "asked"))
        printf("\n%d signals\n", (int)signals);
    if (due_ns && !is_asked(argv + 2, "asked"))
        printf("%d ms late\n", (int)(latest_ns / 1000000));
    printf("%d marks\n", marked);
    return 0;
}
