/*
 * Allocators of its own, reported to the recorder (preload/flamemem.h). `random SEED THREADS` makes
 * random calls in THREADS threads, on the same pools, and prints the live blocks that each function
 * must have: "FUNCTION BYTES BLOCKS".
 */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "preload/flamemem.h"

#define POOLS 4
#define CHUNKS 3
#define SLOTS 40
#define SLOT 1024
#define THREADS_MAX 4

enum { ONE, TWO, AGAIN, BACKING, FUNCTIONS };

struct slot {
    char *p; /* NULL: free */
    size_t size;
    int function;
};

/* Chunk CHUNKS is static memory. */
static struct pool {
    int there;
    char *chunks[CHUNKS + 1];
    struct slot slots[CHUNKS + 1][SLOTS];
} pools[POOLS];

static char elsewhere[POOLS][SLOTS * SLOT];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static long live[FUNCTIONS], blocks[FUNCTIONS];
static int recorded;

__attribute__((noinline)) static int pool_one(struct pool *a, const char *p, size_t size)
{
    int ok = flamemem_pool_alloc(a, p, size);

    __asm__ volatile("");
    return ok;
}

__attribute__((noinline)) static int pool_two(struct pool *a, const char *p, size_t size)
{
    int ok = flamemem_pool_alloc(a, p, size);

    __asm__ volatile("");
    return ok;
}

__attribute__((noinline)) static int pool_again(struct pool *a, const char *old, const char *p,
                                                size_t size)
{
    int ok = flamemem_pool_realloc(a, old, p, size);

    __asm__ volatile("");
    return ok;
}

__attribute__((noinline)) static char *backing(size_t size)
{
    char *p = malloc(size);

    __asm__ volatile("");
    return p;
}

static void must(int ok)
{
    if (recorded && !ok)
        abort();
}

static void count(int chunk, const struct slot *s, int sign)
{
    live[s->function] += sign * (long)s->size;
    blocks[s->function] += sign;
    if (chunk < CHUNKS)
        live[BACKING] -= sign * (long)s->size;
}

static void forget(struct pool *a, int chunk)
{
    for (int i = 0; i < SLOTS; i++)
        if (a->slots[chunk][i].p) {
            count(chunk, &a->slots[chunk][i], -1);
            a->slots[chunk][i].p = NULL;
        }
}

static void create(struct pool *a)
{
    must(flamemem_pool_create(a));
    a->there = 1;
    a->chunks[CHUNKS] = elsewhere[a - pools];
}

static void end(struct pool *a)
{
    must(flamemem_pool_destroy(a));
    a->there = 0;
    for (int c = 0; c <= CHUNKS; c++)
        forget(a, c);
    for (int c = 0; c < CHUNKS; c++)
        if (a->chunks[c]) {
            free(a->chunks[c]);
            a->chunks[c] = NULL;
            live[BACKING] -= SLOTS * SLOT + 16;
            blocks[BACKING]--;
        }
}

/* A header of the allocator's own before the memory, or none. */
static void change_chunk(struct pool *a, int c, int header)
{
    if (a->chunks[c]) {
        forget(a, c);
        free(a->chunks[c]); /* and what lies in it */
        a->chunks[c] = NULL;
        live[BACKING] -= SLOTS * SLOT + 16;
        blocks[BACKING]--;
    } else {
        a->chunks[c] = backing(SLOTS * SLOT + 16);
        live[BACKING] += SLOTS * SLOT + 16;
        blocks[BACKING]++;
        must(flamemem_pool_add(a, a->chunks[c] + header, SLOTS * SLOT + 16 - header));
    }
}

static void change_slot(struct pool *a, int c, int i, size_t size, int what)
{
    struct slot *s = &a->slots[c][i], *other = &a->slots[c][(i + 1) % SLOTS];
    char *p = a->chunks[c] + i * SLOT + (c < CHUNKS ? 16 : 0);

    if (!s->p) {
        *s = (struct slot){p, size, what ? ONE : TWO};
        must(what ? pool_one(a, p, size) : pool_two(a, p, size));
        count(c, s, 1);
    } else if (what == 0) {
        must(flamemem_pool_free(a, s->p));
        must(!flamemem_pool_free(a, s->p) || !recorded);
        count(c, s, -1);
        s->p = NULL;
    } else if (what == 1 || other->p) {
        must(pool_again(a, s->p, s->p, size));
        count(c, s, -1);
        *s = (struct slot){s->p, size, AGAIN};
        count(c, s, 1);
    } else {
        p = a->chunks[c] + (i + 1) % SLOTS * SLOT + (c < CHUNKS ? 16 : 0);
        must(pool_again(a, s->p, p, size));
        count(c, s, -1);
        s->p = NULL;
        *other = (struct slot){p, size, AGAIN};
        count(c, other, 1);
    }
}

static void *run_random(void *arg)
{
    uint64_t random = *(uint64_t *)arg;

    for (int n = 0; n < 20000; n++) {
        unsigned r, c;
        struct pool *a;

        random = random * 6364136223846793005u + 1442695040888963407u;
        r = (unsigned)(random >> 33);
        a = &pools[r % POOLS];
        c = r / 4 % (CHUNKS + 1);
        pthread_mutex_lock(&lock);
        if (!a->there)
            create(a);
        else if (r / 16 % 1000 == 0)
            end(a);
        else if (c < CHUNKS && (!a->chunks[c] || r / 16 % 300 == 1))
            change_chunk(a, (int)c, r & 1 << 20 ? 16 : 0);
        else
            change_slot(a, (int)c, (int)(r / 16 % SLOTS), 1 + r / 640 % (SLOT - 32),
                        (int)(r / 16 % 3));
        pthread_mutex_unlock(&lock);
    }
    return NULL;
}

static void print_model(void)
{
    static const char *const names[FUNCTIONS] = {"pool_one", "pool_two", "pool_again", "backing"};

    for (int f = 0; f < FUNCTIONS; f++)
        if (live[f])
            printf("%s %ld %ld\n", names[f], live[f], blocks[f]);
}

static void random_calls(uint64_t seed, int threads)
{
    static uint64_t seeds[THREADS_MAX];
    pthread_t ids[THREADS_MAX];

    for (int i = 0; i < threads; i++)
        seeds[i] = seed * 977 + (uint64_t)i;
    for (int i = 1; i < threads; i++)
        pthread_create(&ids[i], NULL, run_random, &seeds[i]);
    run_random(&seeds[0]);
    for (int i = 1; i < threads; i++)
        pthread_join(ids[i], NULL);
    print_model();
}

/* ---- one at a time ---- */

/* Hidden, so that only what is meant leads anywhere. */
static volatile uintptr_t hidden;

static char *arena(struct pool *a, int n)
{
    char *p = backing(10000);

    flamemem_pool_create(a);
    flamemem_pool_add(a, p, 10000);
    for (int i = 0; i < n; i++)
        pool_one(a, p + 100 * i, 100);
    return p;
}

static char *volatile kept;

static void leaks(void)
{
    kept = arena(&pools[0], 5) + 4000; /* where the allocator continues */
    hidden = ~(uintptr_t)arena(&pools[1], 7);
    pool_two(&pools[2], elsewhere[2], 300); /* of no pool */
    flamemem_pool_create(&pools[2]);
    pool_two(&pools[2], elsewhere[2], 300); /* in static memory, which is not judged */
    for (volatile int i = 0; i < 3; i++)
        ;
}

static void forks(void)
{
    char *p = arena(&pools[0], 5);

    if (fork() == 0) {
        flamemem_pool_free(&pools[0], p);
        pool_two(&pools[0], p + 9000, 77);
        flamemem_pool_destroy(&pools[0]);
        flamemem_pool_create(&pools[0]);
        flamemem_pool_add(&pools[0], p, 10000);
        pool_two(&pools[0], p, 55);
        _exit(0);
    }
    wait(NULL);
}

/* A pool that passes on what it got from malloc, and one in a block of another. */
static void odd(void)
{
    char *p = backing(500), *q;

    flamemem_pool_create(&pools[0]);
    flamemem_pool_add(&pools[0], NULL, 5);
    flamemem_pool_add(&pools[0], p, SIZE_MAX);
    pool_one(&pools[0], p, 500);
    flamemem_pool_free(&pools[0], p);
    q = arena(&pools[1], 3);
    printf("%d", flamemem_pool_add(&pools[0], q + 50, 10));
    printf("%d", flamemem_pool_add(&pools[1], q, 10000));
    pool_two(&pools[1], q, 10); /* handed out again: it was not freed */
    q = realloc(q, 20000);
    printf("%d\n", flamemem_pool_free(&pools[1], q));
    kept = q;
}

/* Blocks where there is no room for them, and one in two pieces of memory that follow each other.
 */
static void full(void)
{
    char *p = backing(10000);

    flamemem_pool_create(&pools[0]);
    flamemem_pool_add(&pools[0], p, 4000);
    flamemem_pool_add(&pools[0], p + 4000, 4000);
    printf("%d", pool_one(&pools[0], p + 3000, 5000));
    printf("%d", pool_one(&pools[0], p, 3001));
    printf("%d", pool_one(&pools[0], p + 2000, 6001));
    printf("%d", pool_one(&pools[0], p + 1, SIZE_MAX));
    printf("%d", pool_one(&pools[0], elsewhere[0], SIZE_MAX));
    flamemem_pool_free(&pools[0], p + 3000);
    printf("%d\n", pool_two(&pools[0], p, 8000));
    kept = p;
}

int main(int argc, char **argv)
{
    setvbuf(stdout, NULL, _IONBF, 0);
    recorded = getenv("LD_PRELOAD") != NULL;
    if (argc > 3 && strcmp(argv[1], "random") == 0)
        random_calls(strtoull(argv[2], NULL, 10), atoi(argv[3]));
    else if (argc > 1 && strcmp(argv[1], "leaks") == 0)
        leaks();
    else if (argc > 1 && strcmp(argv[1], "forks") == 0)
        forks();
    else if (argc > 1 && strcmp(argv[1], "full") == 0)
        full();
    else
        odd();
    return 0;
}
