/*
 * Waits for words on its standard input and answers each with a line, as attached.c does. What
 * keeps what:
 *
 *   before   old_list     a list of 2,000 nodes of 16 bytes, each with a block of 100
 *            emptied      nothing: a list like it that was freed again
 *   work     cache.list   a list of 1,000 nodes of 16 bytes with blocks of 1,000, by push
 *            cache.table  4,000 bytes with pointers to 500 blocks of 200, by get
 *            second       5,000 bytes that also lead to the table
 *            part         the inside of a block of 700 bytes
 *            a thread     30,000 bytes by a local variable of worker, 7,000 by thread-local data
 *            nothing      9 blocks of 1,111 bytes
 *   quit
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define PLAIN __attribute__((noinline, noclone))

struct node {
    struct node *next;
    void *data;
};

struct {
    long n;
    struct node *list;
    void **table;
} cache;
struct node *old_list, *emptied;
void **second;
char *part;
static void *volatile sink;
__thread void *own;
static pthread_barrier_t barrier;

static void *get(size_t size)
{
    void *p = calloc(1, size);

    if (!p)
        _exit(3);
    return p;
}

static void push(struct node **list, size_t size)
{
    struct node *n = malloc(sizeof *n);

    if (!n)
        _exit(3);
    n->data = malloc(size);
    n->next = *list;
    *list = n;
}

PLAIN static void before(void)
{
    for (int i = 0; i < 2000; i++) {
        push(&old_list, 100);
        push(&emptied, 2000);
    }
    for (struct node *n = emptied, *next; n; n = next) {
        next = n->next;
        free(n->data);
        free(n);
    }
    emptied = NULL;
}

PLAIN static void fill_cache(void)
{
    for (int i = 0; i < 1000; i++)
        push(&cache.list, 1000);
}

PLAIN static void fill_table(void)
{
    cache.table = get(500 * sizeof(void *));
    for (int i = 0; i < 500; i++)
        cache.table[i] = get(200);
}

PLAIN static void share(void)
{
    second = get(5000);
    second[100] = cache.table;
}

PLAIN static void inside(void)
{
    part = (char *)get(700) + 64;
}

PLAIN static void lose(void)
{
    for (int i = 0; i < 9; i++)
        sink = get(1111);
    sink = NULL;
}

PLAIN static void *worker(void *arg)
{
    void *volatile local = get(30000);

    own = get(7000);
    pthread_barrier_wait(&barrier);
    while (local)
        pause();
    return arg;
}

PLAIN static void overwrite(void)
{
    char room[16384];

    memset(room, 0, sizeof room);
    __asm__ volatile("" : : "r"(room) : "memory");
}

static void work(void)
{
    pthread_t t;

    fill_cache();
    fill_table();
    share();
    inside();
    lose();
    if (pthread_barrier_init(&barrier, NULL, 2) || pthread_create(&t, NULL, worker, NULL))
        _exit(3);
    pthread_barrier_wait(&barrier);
    overwrite();
}

int main(void)
{
    char word[16];

    while (scanf("%15s", word) == 1) {
        if (strcmp(word, "before") == 0)
            before();
        else if (strcmp(word, "work") == 0)
            work();
        else
            break;
        puts("done");
        fflush(stdout);
    }
    return 0;
}
