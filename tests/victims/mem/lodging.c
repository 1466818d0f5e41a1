/*
 * lodging.c: memory where it usually is not. Waits for words on its standard input and answers each
 * with a line, as attached.c does.
 *
 *   before   guarded   a block, of which a page can be read no more
 *            behind    behind that in the heap, a list of 1,000 nodes of 16 bytes, each with a
 *                      block of 500
 *            wide      an array beyond the last page that the file has of the program's data, with
 *                      100 blocks of 300 bytes
 *   work     two threads with stacks in one mapping: lower keeps 30,000 bytes by a local variable,
 *            upper 40,000
 *   quit
 */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define PLAIN __attribute__((noinline, noclone))
#define STACK ((size_t)256 << 10)

struct node {
    struct node *next;
    void *data;
};

void *guarded;
struct node *behind;
void *wide[20000];
static pthread_barrier_t barrier;

static void *get(size_t size)
{
    void *p = malloc(size);

    if (!p)
        _exit(3);
    return p;
}

PLAIN static void before(void)
{
    uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);

    guarded = get(4 * page);
    if (mprotect((void *)(((uintptr_t)guarded + page) & -page), page, PROT_NONE))
        _exit(4);
    for (int i = 0; i < 1000; i++) {
        struct node *n = get(sizeof *n);

        n->data = get(500);
        n->next = behind;
        behind = n;
    }
}

PLAIN static void widen(void)
{
    for (int i = 0; i < 100; i++)
        wide[15000 + i] = get(300);
}

PLAIN static void *lower(void *arg)
{
    void *volatile local = get(30000);

    pthread_barrier_wait(&barrier);
    while (local)
        pause();
    return arg;
}

PLAIN static void *upper(void *arg)
{
    void *volatile local = get(40000);

    pthread_barrier_wait(&barrier);
    while (local)
        pause();
    return arg;
}

static void start(void *(*run)(void *), char *stack)
{
    pthread_attr_t attr;
    pthread_t t;

    if (pthread_attr_init(&attr) || pthread_attr_setstack(&attr, stack, STACK) ||
        pthread_create(&t, &attr, run, NULL))
        _exit(5);
    pthread_attr_destroy(&attr);
}

PLAIN static void work(void)
{
    char *stacks =
        mmap(NULL, 2 * STACK, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    if (stacks == MAP_FAILED || pthread_barrier_init(&barrier, NULL, 3))
        _exit(6);
    start(lower, stacks);
    start(upper, stacks + STACK);
    pthread_barrier_wait(&barrier);
}

int main(void)
{
    char word[16];

    while (scanf("%15s", word) == 1) {
        if (strcmp(word, "before") == 0) {
            before();
            widen();
        } else if (strcmp(word, "work") == 0) {
            work();
        } else {
            break;
        }
        puts("done");
        fflush(stdout);
    }
    return 0;
}
