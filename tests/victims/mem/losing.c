/*
 * Waits for words on its standard input and answers each with a line, as attached.c does.
 *
 *   before    allocates a list of 1,000 nodes of 40 bytes
 *   work      allocates, in functions of these names and in all:
 *               lost      100 blocks of 100 bytes to which nothing leads
 *               pairs     100 blocks of 64 bytes to which nothing leads, each with the only pointer
 *                         to a block of 200
 *               circles   10 pairs of blocks of 48 bytes that lead to each other alone
 *               listed    100 blocks of 24 bytes, to which nodes from before lead
 *               inside    100 blocks of 80 bytes, to which pointers to their ninth byte lead
 *               large     a block of 1,000,000 bytes, whose last word leads to one of 24
 *               mapped    10 blocks of 56 bytes, to which mapped memory leads: half a TiB, of which
 *                         ten pages are used
 *               stacked   a block of 72 bytes to which another thread's stack leads, and one of 88
 *                         to which its thread-local data leads
 *               sealed    10 blocks of 32 bytes, to which data leads that is read-only by then
 *               locked    10 blocks of 36 bytes, to which data leads that cannot even be read then
 *               below     10 blocks of 120 bytes, to which data leads that lies in one mapping with
 *                         a thread's stack, below it
 *             and frees 1,000 blocks of all these sizes
 *   quit
 */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

struct node {
    struct node *next;
    void *more[4];
};

struct node *list;
char *insides[100];
void **big, **map;
static void *volatile seen;
__thread void *own;
static pthread_barrier_t barrier;

static void *get(size_t size)
{
    void *p = malloc(size);

    if (!p)
        _exit(3);
    memset(p, 1, size);
    return p;
}

/* Leaves no pointer in a register or in this stack. */
static void forget(void *p)
{
    seen = p;
    seen = NULL;
}

__attribute__((noinline)) static void before(void)
{
    for (int i = 0; i < 1000; i++) {
        struct node *n = calloc(1, sizeof *n);

        n->next = list;
        list = n;
    }
}

__attribute__((noinline)) static void lost(void)
{
    for (int i = 0; i < 100; i++)
        forget(get(100));
}

__attribute__((noinline)) static void pairs(void)
{
    for (int i = 0; i < 100; i++) {
        void **p = get(64);

        p[7] = get(200);
        forget(p);
    }
}

__attribute__((noinline)) static void circles(void)
{
    for (int i = 0; i < 10; i++) {
        void **p = get(48), **q = get(48);

        p[5] = q;
        q[0] = p;
        forget(p);
        forget(q);
    }
}

__attribute__((noinline)) static void listed(void)
{
    struct node *n = list;

    for (int i = 0; i < 100; i++, n = n->next)
        n->more[i % 4] = get(24);
}

__attribute__((noinline)) static void inside(void)
{
    for (int i = 0; i < 100; i++)
        insides[i] = (char *)get(80) + 8;
}

__attribute__((noinline)) static void large(void)
{
    big = get(1000000);
    big[1000000 / sizeof *big - 1] = get(24);
}

__attribute__((noinline)) static void mapped(void)
{
    size_t size = (size_t)1 << 40;

    map = MAP_FAILED;
    while (map == MAP_FAILED && (size /= 2) > 1 << 20)
        map = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE,
                   -1, 0);
    if (map == MAP_FAILED)
        _exit(3);
    for (size_t i = 0; i < 10; i++)
        map[i * (size / 10 / sizeof *map)] = get(56);
}

__attribute__((noinline)) static void *stacked(void *arg)
{
    void *volatile here = get(72);

    own = get(88);
    pthread_barrier_wait(&barrier);
    for (;;)
        pause();
    return here ? arg : NULL;
}

static __attribute__((aligned(65536))) void *seal[8192];

__attribute__((noinline)) static void sealed(void)
{
    for (int i = 0; i < 10; i++)
        seal[i] = get(32);
    if (mprotect(seal, sizeof seal, PROT_READ))
        _exit(3);
}

static __attribute__((aligned(65536))) void *lock[8192];

__attribute__((noinline)) static void locked(void)
{
    for (int i = 0; i < 10; i++)
        lock[i] = get(36);
    if (mprotect(lock, sizeof lock, PROT_NONE))
        _exit(3);
}

static void *wait_here(void *arg)
{
    pthread_barrier_wait(&barrier);
    for (;;)
        pause();
    return arg;
}

__attribute__((noinline)) static void below(void)
{
    const size_t size = 1 << 20;
    pthread_attr_t attr;
    pthread_t t;
    void **data =
        mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK, -1, 0);

    if (data == MAP_FAILED || pthread_attr_init(&attr) || pthread_attr_setstack(&attr, data, size))
        _exit(3);
    for (int i = 0; i < 10; i++)
        data[i] = get(120);
    if (pthread_create(&t, &attr, wait_here, NULL))
        _exit(3);
    pthread_barrier_wait(&barrier);
}

__attribute__((noinline)) static void overwrite(void)
{
    char room[16384];

    memset(room, 0, sizeof room);
    __asm__ volatile("" : : "r"(room) : "memory");
}

static void work(void)
{
    static const size_t sizes[] = {24, 48, 56, 64, 72, 80, 88, 100, 200, 1000};
    static void *freed[1000];
    pthread_t t;

    lost();
    pairs();
    circles();
    listed();
    inside();
    large();
    mapped();
    if (pthread_barrier_init(&barrier, NULL, 2) || pthread_create(&t, NULL, stacked, NULL))
        _exit(3);
    pthread_barrier_wait(&barrier);
    sealed();
    locked();
    below();
    for (int i = 0; i < 1000; i++)
        freed[i] = get(sizes[i % 10]);
    for (int i = 0; i < 1000; i++)
        free(freed[i]);
    memset(freed, 0, sizeof freed);
    overwrite();
}

int main(void)
{
    char line[64];
    size_t n = 0;

    while (n < sizeof line - 1 && read(0, line + n, 1) == 1) {
        if (line[n] != '\n') {
            n++;
            continue;
        }
        line[n] = '\0';
        n = 0;
        if (strcmp(line, "quit") == 0)
            return list && big && map && insides[0] ? 0 : 1;
        if (strcmp(line, "before") == 0)
            before();
        else if (strcmp(line, "work") == 0)
            work();
        else
            return 2;
        if (write(1, "done\n", 5) != 5)
            return 2;
    }
    return 2;
}
