/*
 * Writes where it should not: over the memory that the library of waits shares with the tracer.
 *
 *     scribbles rings SEED   random words there, again and again, between calls of all kinds, in
 *                            threads and forked children
 *     scribbles own WORD     once over a word of its first ring's head: 64 calls more, or 0
 *     scribbles head         over what the tracer alone may write to: says whether that can be done
 *     scribbles user         a child gives up its user ID: says what it has still, and what its
 *                            parent has
 */
#define _GNU_SOURCE
#include <poll.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define SHARED "flame-waits-rings"
#define TRACERS "flame-waits "

static uint64_t seed;

static uint64_t any(void)
{
    seed ^= seed << 13;
    seed ^= seed >> 7;
    return seed ^= seed << 17;
}

struct range {
    char *at;
    size_t size;
};

/* The mapping of that name; NULL: there is none. */
static struct range find(const char *name)
{
    FILE *maps = fopen("/proc/self/maps", "r");
    struct range found = {NULL, 0};
    unsigned long from, to;
    char line[4400];

    while (maps && fgets(line, sizeof line, maps))
        if (strstr(line, name) && sscanf(line, "%lx-%lx", &from, &to) == 2 && !found.at)
            found = (struct range){(char *)from, to - from}; /* NOLINT */
    if (maps)
        fclose(maps);
    return found;
}

/* ---- over all of it ---- */

static struct range shared;

static void scribble(void)
{
    static const size_t most[] = {4096, 1 << 16, 1 << 21, SIZE_MAX};
    size_t limit = most[any() % 4] < shared.size ? most[any() % 4] : shared.size;
    unsigned n = 1 + (unsigned)(any() % (any() % 2 ? 8 : 2000));

    if (limit > shared.size)
        limit = shared.size;
    while (n--) {
        volatile uint64_t *at = (uint64_t *)(shared.at + any() % (limit / 8) * 8);
        const uint64_t values[] = {
            any(), 0, UINT64_MAX, any() % 256, *at + any() % 16 - 8, 1ull << any() % 64};

        *at = values[any() % 6];
    }
}

static void *naps(void *arg)
{
    struct timespec t = {0, 100000};

    for (int i = 0; i < 5; i++)
        nanosleep(&t, NULL);
    return arg;
}

static void calls(void)
{
    struct timespec t = {0, 100000};
    struct pollfd p = {.events = POLLIN};
    FILE *file = fopen("/proc/self/comm", "r");
    int fds[2];
    char c;

    if (pipe(fds) || write(fds[1], "x", 1) != 1 || read(fds[0], &c, 1) != 1)
        exit(3);
    p.fd = fds[0];
    poll(&p, 1, 0);
    nanosleep(&t, NULL);
    close(fds[0]);
    close(fds[1]);
    if (file)
        fclose(file);
}

static void all_over(void)
{
    for (int round = 0; round < 25; round++) {
        pthread_t threads[2];
        pid_t child;

        scribble();
        calls();
        if (round % 8 == 3) {
            for (int i = 0; i < 2; i++)
                pthread_create(&threads[i], NULL, naps, NULL);
            scribble();
            for (int i = 0; i < 2; i++)
                pthread_join(threads[i], NULL);
        }
        if (round % 8 == 5) {
            int status = 0;

            child = fork();
            if (!child) {
                scribble();
                calls();
                _exit(0);
            }
            waitpid(child, &status, 0);
            if (status)
                printf("a child ended with %d\n", status);
        }
    }
    puts("done");
}

/* ---- over one word ---- */

static void one_word(unsigned word)
{
    uint64_t *rings = (uint64_t *)shared.at;

    calls();
    /* The first page of words that begin with a record of a ring's owner. */
    for (size_t at = 4096; at + 16 < shared.size; at += 4096)
        if ((*(uint64_t *)(shared.at + at) & 0xffff) == 0x201) {
            rings = (uint64_t *)(shared.at + at - 4096);
            break;
        }
    ((volatile uint64_t *)rings)[word] = 0x123456789;
    for (int i = 0; i < 64; i++)
        calls();
    puts("done");
}

/* ---- what may be written to ---- */

static sigjmp_buf back;

static void on_fault(int sig)
{
    (void)sig;
    siglongjmp(back, 1);
}

static const char *access_to(struct range r)
{
    if (!r.at)
        return "not mapped";
    signal(SIGSEGV, on_fault);
    if (sigsetjmp(back, 1))
        return "not writable";
    *(volatile char *)r.at = *(volatile char *)r.at;
    return "writable";
}

static void head(void)
{
    struct range r = find(TRACERS);

    printf("%s\n", access_to(r));
    printf("%s\n", mprotect(r.at, r.size, PROT_READ | PROT_WRITE) ? "stays so" : "can be changed");
}

static void user(void)
{
    printf("parent: %s\n", access_to(find(SHARED)));
    fflush(stdout);
    if (!fork()) {
        if (setgid(65534) || setuid(65534))
            exit(3);
        printf("child: %s\n", access_to(find(SHARED)));
        for (int i = 0; i < 20; i++)
            calls();
        exit(0);
    }
    wait(NULL);
    printf("parent: %s\n", access_to(find(SHARED)));
}

int main(int argc, char **argv)
{
    shared = find(SHARED);
    if (!shared.at || argc < 2) {
        puts("nothing is shared");
        return 1;
    }
    if (strcmp(argv[1], "rings") == 0) {
        seed = strtoull(argv[2], NULL, 0) * 0x9e3779b97f4a7c15u + 1;
        all_over();
    } else if (strcmp(argv[1], "own") == 0) {
        one_word((unsigned)atoi(argv[2]));
    } else if (strcmp(argv[1], "head") == 0) {
        head();
    } else {
        user();
    }
    return 0;
}
