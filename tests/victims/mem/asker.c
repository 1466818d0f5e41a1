/*
 * Calls of preload/flamemem.h, by which a program controls its recorder. `random SEED THREADS`
 * makes random calls in THREADS threads. It prints the expected counts of its stacks, from a model:
 * "FRAMES live N", and the amount that was left out.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "preload/flamemem.h"

#define BLOCKS 400
#define NAMES 4
#define DEEP 3
#define PATHS (1 + NAMES + NAMES * NAMES + NAMES * NAMES * NAMES)
#define THREADS_MAX 4

static const char *const names[NAMES] = {"get", "put", "a;b", "list all"};

/* Model of a thread. A path is a sequence of active tags as a number: 0 none. */
struct model {
    uint64_t random;
    int tags[64], deep, paused;
    int64_t live[3][PATHS]; /* by function and tags */
    uint64_t left_calls, left_bytes;
    struct held {
        void *p;
        size_t size;
        int function, path; /* function -1: left out */
    } held[BLOCKS];
};

static unsigned pick(struct model *m, unsigned n)
{
    m->random = m->random * 6364136223846793005u + 1442695040888963407u;
    return (unsigned)(m->random >> 33) % n;
}

static int path_of(const struct model *m)
{
    int path = 0;

    for (int i = 0; i < m->deep && i < DEEP; i++)
        path = path * NAMES + m->tags[i] + 1;
    return path;
}

__attribute__((noinline)) static void *by_one(size_t size)
{
    void *p = malloc(size);

    __asm__ volatile("");
    return p;
}

__attribute__((noinline)) static void *by_two(size_t size)
{
    void *p = calloc(1, size);

    __asm__ volatile("");
    return p;
}

__attribute__((noinline)) static void *by_realloc(void *p, size_t size)
{
    p = realloc(p, size);
    __asm__ volatile("");
    return p;
}

static void count(struct model *m, struct held *h, int function)
{
    h->function = m->paused ? -1 : function;
    h->path = path_of(m);
    if (m->paused) {
        m->left_calls++;
        m->left_bytes += h->size;
    } else {
        m->live[function][h->path] += (int64_t)h->size;
    }
}

static void uncount(struct model *m, const struct held *h)
{
    if (h->function >= 0)
        m->live[h->function][h->path] -= (int64_t)h->size;
}

static void change_block(struct model *m)
{
    struct held *h = &m->held[pick(m, BLOCKS)];
    size_t size = 1 + pick(m, pick(m, 8) ? 300 : 70000);

    if (h->p && pick(m, 3)) {
        uncount(m, h);
        free(h->p);
        h->p = NULL;
    } else if (h->p) {
        uncount(m, h);
        h->p = by_realloc(h->p, size);
        h->size = size;
        count(m, h, 2);
    } else {
        int function = (int)pick(m, 2);

        h->p = function ? by_two(size) : by_one(size);
        h->size = size;
        count(m, h, function);
    }
}

static void step(struct model *m)
{
    switch (pick(m, 12)) {
    case 0:
        if (m->deep < DEEP) {
            m->tags[m->deep] = (int)pick(m, NAMES);
            flamemem_tag_push(names[m->tags[m->deep++]]);
        }
        break;
    case 1:
        if (flamemem_tag_pop() != (m->deep > 0) && getenv("LD_PRELOAD"))
            abort();
        m->deep -= m->deep > 0;
        break;
    case 2:
        if (pick(m, 3) == 0) {
            m->paused++;
            flamemem_pause();
        } else {
            if (flamemem_resume() != (m->paused > 0) && getenv("LD_PRELOAD"))
                abort();
            m->paused -= m->paused > 0;
        }
        break;
    default:
        change_block(m);
    }
}

static struct model *models[THREADS_MAX];

static void *run_random(void *arg)
{
    struct model *m = arg;

    for (int i = 0; i < 20000; i++)
        step(m);
    return NULL;
}

static void print_path(int path)
{
    if (!path)
        return;
    print_path((path - 1) / NAMES);
    printf("[tag: %s] ", names[(path - 1) % NAMES]);
}

static void print_models(int n)
{
    static const char *const functions[] = {"by_one", "by_two", "by_realloc"};
    uint64_t calls = 0, bytes = 0;

    for (int f = 0; f < 3; f++)
        for (int path = 0; path < PATHS; path++) {
            int64_t live = 0;

            for (int i = 0; i < n; i++)
                live += models[i]->live[f][path];
            if (!live)
                continue;
            print_path(path);
            printf("%s %lld\n", functions[f], (long long)live);
        }
    for (int i = 0; i < n; i++) {
        calls += models[i]->left_calls;
        bytes += models[i]->left_bytes;
    }
    printf("left out %llu %llu\n", (unsigned long long)calls, (unsigned long long)bytes);
}

static void random_calls(uint64_t seed, int threads)
{
    pthread_t ids[THREADS_MAX];

    for (int i = 0; i < threads; i++) {
        models[i] =
            mmap(NULL, sizeof **models, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        models[i]->random = seed * 977 + (uint64_t)i;
    }
    for (int i = 1; i < threads; i++)
        pthread_create(&ids[i], NULL, run_random, models[i]);
    run_random(models[0]);
    for (int i = 1; i < threads; i++)
        pthread_join(ids[i], NULL);
    while (flamemem_resume())
        ;
    print_models(threads);
}

/* ---- one at a time ---- */

__attribute__((noinline)) static void *keep(size_t size)
{
    void *p = malloc(size);

    memset(p, 0, size);
    __asm__ volatile("");
    return p;
}

static void *kept[16];

static void forks(void)
{
    flamemem_tag_push("server");
    kept[0] = keep(100);
    flamemem_pause();
    if (fork() == 0) {
        kept[1] = keep(7); /* paused, still */
        flamemem_resume();
        flamemem_tag_push("child");
        kept[2] = keep(2000);
        free(kept[0]);
        _exit(0);
    }
    flamemem_resume();
    wait(NULL);
    flamemem_tag_pop();
    kept[3] = keep(30000);
}

/* A block that is not recorded leads to one that is. */
static void leaks(void)
{
    void **left_out;

    flamemem_pause();
    left_out = keep(64);
    kept[1] = keep(50);
    free(kept[1]);
    kept[1] = keep(48);
    kept[1] = realloc(kept[1], 4000);
    flamemem_resume();
    left_out[0] = keep(1001);
    left_out = NULL;
    flamemem_tag_push("lost");
    memset(keep(1003), 0, 10);
    flamemem_tag_pop();
    free(kept[1]);
}

static void deep(void)
{
    int on = 0;

    for (int i = 0; i < 40; i++)
        on += flamemem_tag_push("deeper");
    kept[0] = keep(10);
    for (int i = 0; i < 40; i++)
        flamemem_tag_pop();
    kept[1] = keep(20);
    printf("%d %d\n", on, flamemem_tag_pop());
}

static void snapshots(int argc, char **argv)
{
    kept[0] = keep(5000);
    printf("%d\n", flamemem_snapshot(argc > 2 ? argv[2] : "half way/../x"));
    kept[1] = keep(7000);
    errno = 77;
    printf("%d\n", flamemem_snapshot(NULL));
    if (errno != 77)
        abort();
}

int main(int argc, char **argv)
{
    setvbuf(stdout, NULL, _IONBF, 0);
    if (argc > 3 && strcmp(argv[1], "random") == 0)
        random_calls(strtoull(argv[2], NULL, 10), atoi(argv[3]));
    else if (strcmp(argv[1], "forks") == 0)
        forks();
    else if (strcmp(argv[1], "leaks") == 0)
        leaks();
    else if (strcmp(argv[1], "deep") == 0)
        deep();
    else if (strcmp(argv[1], "snapshots") == 0)
        snapshots(argc, argv);
    return 0;
}
