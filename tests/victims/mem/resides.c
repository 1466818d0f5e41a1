/*
 * resides.c: memory of which it is known what is resident.
 *
 *   resides known PATH   blocks, mappings and a file (PATH, of 16 pages), see t0136
 *   resides threads      three threads that allocate in arenas of their own, and one whose stack is
 *                        deep; all free most of it again
 *   resides fork         a block is inherited, half of it written to again by the child
 *   resides zero         64 pages that were only read, and beside them 6 that were written to
 *   resides huge         a block of 16 MiB in huge pages; prints the kernel's AnonHugePages of it
 *   resides twice        two snapshots around a change, and what the kernel says then; needs
 *                        flamemem.h
 *   resides many N SIZE  N blocks of SIZE bytes, written to, every third freed
 *   resides sandbox      enters a seccomp filter that fails to open anything
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "preload/flamemem.h"

#define PAGE 4096u
#define STAY() __asm__ volatile("" ::: "memory")

static volatile char sink;

/* Keeps what is allocated from being optimised away. */
static void *volatile kept[64];
static int nkept;

static char *keep(void *p)
{
    kept[nkept++ % 64] = p;
    return p;
}

static void touch(char *p, size_t pages, size_t step)
{
    for (size_t i = 0; i < pages; i += step)
        p[i * PAGE] = 1;
}

/* ---- known ---- */

/* The first page of the mapping holds malloc's head and 4,080 bytes of the block. */
__attribute__((noinline)) static void one_in_three(void)
{
    char *p = keep(malloc(3000 * PAGE));

    touch(p - 16, 3000, 3);
}

__attribute__((noinline)) static void given_back(void)
{
    char *p =
        keep(mmap(NULL, 100 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));

    touch(p, 100, 1);
    madvise(p + 20 * PAGE, 60 * PAGE, MADV_DONTNEED);
}

__attribute__((noinline)) static void read_file(const char *path)
{
    int fd = open(path, O_RDONLY);
    char *p = keep(mmap(NULL, 16 * PAGE, PROT_READ, MAP_PRIVATE, fd, 0));

    madvise(p, 16 * PAGE, MADV_RANDOM);
    for (int i = 0; i < 16; i++)
        sink = p[i * PAGE];
    close(fd);
}

__attribute__((noinline)) static void write_file(const char *path)
{
    int fd = open(path, O_RDONLY);
    char *p = keep(mmap(NULL, 16 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE, fd, 0));

    touch(p, 16, 1);
    close(fd);
}

__attribute__((noinline)) static void share(void)
{
    char *p =
        keep(mmap(NULL, 50 * PAGE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0));

    touch(p, 7, 1);
}

__attribute__((noinline)) static void small_blocks(void)
{
    for (int i = 0; i < 1000; i++)
        memset(keep(malloc(1000)), 1, 1000);
}

/* A big heap of small blocks, freed but for the last. */
__attribute__((noinline)) static void freed_heap(void)
{
    static char *p[2000];

    for (int i = 0; i < 2000; i++)
        memset(p[i] = malloc(2000), 1, 2000);
    for (int i = 0; i < 1999; i++)
        free(p[i]);
}

static int known(const char *path)
{
    small_blocks();
    freed_heap();
    one_in_three();
    given_back();
    read_file(path);
    write_file(path);
    share();
    return 0;
}

/* ---- threads ---- */

static pthread_barrier_t barrier;

__attribute__((noinline)) static void *in_arena(void *arg)
{
    char *p[500];

    for (int i = 0; i < 500; i++)
        memset(p[i] = malloc(4000), 1, 4000);
    for (int i = 1; i < 500; i++)
        free(p[i]);
    STAY();
    pthread_barrier_wait(&barrier);
    pthread_barrier_wait(&barrier);
    return arg;
}

__attribute__((noinline)) static void *deep(void *arg)
{
    char buffer[200 * PAGE];

    memset(buffer, 1, sizeof buffer);
    __asm__ volatile("" : : "r"(buffer) : "memory");
    pthread_barrier_wait(&barrier);
    pthread_barrier_wait(&barrier);
    return arg;
}

static int threads(void)
{
    pthread_t t[4];

    pthread_barrier_init(&barrier, NULL, 5);
    for (int i = 0; i < 4; i++)
        pthread_create(&t[i], NULL, i < 3 ? in_arena : deep, NULL);
    pthread_barrier_wait(&barrier);
    /* They wait while it ends. */
    return 0;
}

/* ---- the rest ---- */

__attribute__((noinline)) static char *inherited_block(void)
{
    char *p = keep(malloc(1000 * PAGE));

    touch(p, 1000, 1);
    return p;
}

__attribute__((noinline)) static void childs_block(void)
{
    touch(keep(malloc(300 * PAGE)), 300, 1);
}

static int forks(void)
{
    char *p = inherited_block();
    pid_t pid = fork();

    if (pid == 0) {
        touch(p, 500, 1);
        childs_block();
        exit(0);
    }
    waitpid(pid, NULL, 0);
    return 0;
}

static char *map_at(char *at, size_t pages)
{
    char *p = mmap(at, pages * PAGE, PROT_READ | PROT_WRITE,
                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);

    if (p != at)
        puts("the place is taken");
    madvise(p, pages * PAGE, MADV_NOHUGEPAGE);
    return p;
}

__attribute__((noinline)) static void only_read(char *at)
{
    char *p = map_at(at, 64);

    for (int i = 0; i < 64; i++)
        sink = p[i * PAGE];
}

__attribute__((noinline)) static void also_written(char *at)
{
    touch(map_at(at, 3), 3, 1);
}

/* kB of `key` of the mapping that holds `addr`, or of all for NULL. */
static long kernel_says(const void *addr, const char *key)
{
    FILE *f = fopen(addr ? "/proc/self/smaps" : "/proc/self/smaps_rollup", "re");
    uintptr_t lo, hi;
    int within = addr == NULL;
    long value = -1, n;
    char line[512], name[64];

    while (f && fgets(line, sizeof line, f))
        if (addr && sscanf(line, "%lx-%lx", &lo, &hi) == 2)
            within = (uintptr_t)addr >= lo && (uintptr_t)addr < hi;
        else if (within && sscanf(line, "%63[^:]: %ld kB", name, &n) == 2 && strcmp(name, key) == 0)
            value = n;
    if (f)
        fclose(f);
    return value;
}

/* They are one mapping of the kernel's, far from all others. Bytes of it that the kernel says are
 * resident. */
static long zeros(void)
{
    char *base = (char *)((uintptr_t)1 << 44);

    also_written(base);
    only_read(base + 3 * PAGE);
    also_written(base + 67 * PAGE);
    return kernel_says(base, "Rss") * 1024;
}

__attribute__((noinline)) static char *huge_block(void)
{
    char *p =
        keep(mmap(NULL, 16u << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));

    madvise(p, 16u << 20, MADV_HUGEPAGE);
    memset(p, 1, 16u << 20);
    return p;
}

__attribute__((noinline)) static void grown(void)
{
    touch(keep(malloc(2000 * PAGE)), 2000, 1);
}

static int twice(void)
{
    flamemem_snapshot("before");
    grown();
    flamemem_snapshot("after");
    printf("%ld\n", kernel_says(NULL, "Rss") * 1024);
    fflush(stdout);
    _exit(0);
}

__attribute__((noinline)) static void many(long n, long size)
{
    char **p = malloc((size_t)n * sizeof *p);

    for (long i = 0; i < n; i++)
        memset(p[i] = malloc((size_t)size), 1, (size_t)size);
    for (long i = 0; i < n; i += 3)
        free(p[i]);
    keep(p);
}

static void enter_sandbox(void)
{
    struct sock_filter filter[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_openat, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog program = {sizeof filter / sizeof *filter, filter};

    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
        prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program))
        puts("there is no seccomp");
}

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "";

    if (strcmp(what, "known") == 0 && argc > 2)
        return known(argv[2]);
    if (strcmp(what, "threads") == 0)
        return threads();
    if (strcmp(what, "fork") == 0)
        return forks();
    if (strcmp(what, "zero") == 0)
        printf("%ld\n", zeros());
    else if (strcmp(what, "huge") == 0)
        printf("%ld\n", kernel_says(huge_block(), "AnonHugePages") * 1024);
    else if (strcmp(what, "twice") == 0)
        return twice();
    else if (strcmp(what, "many") == 0 && argc > 3)
        many(atol(argv[2]), atol(argv[3]));
    else if (strcmp(what, "sandbox") == 0)
        enter_sandbox();
    else
        return 2;
    return 0;
}
