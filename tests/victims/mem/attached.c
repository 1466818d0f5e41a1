/*
 * Waits for words on its standard input and answers each with a line, so that a test decides what
 * happens while it is attached to. Words are read and answers written by read and write alone.
 *
 *   before    allocates 10 blocks of 5,000 bytes and keeps them
 *   after     frees them
 *   work      allocates, in functions of these names and in all:
 *               alpha     100 blocks of 1,000 bytes, frees 60 of them at once (malloc)
 *               beta      in another thread: 50 blocks of 70 bytes (calloc), which become 140 bytes
 *                         each (realloc); the first thread frees 20 of them
 *               gamma     3 blocks of 256 bytes at multiples of 64 (posix_memalign), 2 of 512
 *                         (aligned_alloc)
 *               delta     5 blocks of 32 bytes by strdup, in which the C library calls malloc
 *   forget    frees what "work" has kept
 *   doze      sleeps 10 times for 20 ms in a function of that name
 *   exec FILE WORD    becomes the program FILE with that argument
 *   open FILE NAME    dlopen and dlsym; "call" calls that 10 times and keeps what it returns
 *   close     dlclose
 *   sandbox   from now on openat, open and memfd_create end the process (seccomp)
 *   fortress  mmap of memory to execute fails from now on, or, "deadly", ends the process
 *   fork      a child does what "work" does, and ends
 *   quit
 */
#include <dlfcn.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#ifndef SYS_open
#define SYS_open SYS_openat /* aarch64 has no other */
#endif

#define KEPT 2000

static void *kept[KEPT], *old[10], *foreign[50];
static int nkept;
static void *library;
static void *(*function)(void);

static void keep(void *p)
{
    if (!p || nkept == KEPT)
        _exit(3);
    kept[nkept++] = p;
}

__attribute__((noinline)) static void alpha(void)
{
    for (int i = 0; i < 100; i++) {
        void *p = malloc(1000);

        if (i < 60)
            free(p);
        else
            keep(p);
    }
}

__attribute__((noinline)) static void *beta(void *arg)
{
    for (int i = 0; i < 50; i++)
        foreign[i] = calloc(10, 7);
    for (int i = 0; i < 50; i++)
        foreign[i] = realloc(foreign[i], 140);
    return arg;
}

__attribute__((noinline)) static void gamma_(void)
{
    for (int i = 0; i < 3; i++) {
        void *p;

        if (posix_memalign(&p, 64, 256))
            _exit(3);
        keep(p);
    }
    for (int i = 0; i < 2; i++)
        keep(aligned_alloc(512, 512));
}

__attribute__((noinline)) static void delta(void)
{
    for (int i = 0; i < 5; i++)
        keep(strdup("thirty-one characters are in it"));
}

__attribute__((noinline)) static void work(void)
{
    pthread_t t;

    alpha();
    if (pthread_create(&t, NULL, beta, NULL) || pthread_join(t, NULL))
        _exit(3);
    for (int i = 0; i < 50; i++)
        if (i < 20)
            free(foreign[i]);
        else
            keep(foreign[i]);
    gamma_();
    delta();
}

static void forget(void)
{
    while (nkept)
        free(kept[--nkept]);
}

__attribute__((noinline)) static void doze(void)
{
    for (int i = 0; i < 10; i++)
        nanosleep(&(struct timespec){.tv_nsec = 20000000}, NULL);
}

static void confine(struct sock_filter *f, size_t n)
{
    struct sock_fprog p = {(unsigned short)n, f};

    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &p))
        _exit(4);
}

static void fortress(unsigned answer)
{
    struct sock_filter f[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_mmap, 0, 3),
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args[2])),
        BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, PROT_EXEC, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, answer),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };

    confine(f, sizeof f / sizeof f[0]);
}

static void sandbox(void)
{
    struct sock_filter f[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_openat, 3, 0),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_open, 2, 0),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_memfd_create, 1, 0),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
    };

    confine(f, sizeof f / sizeof f[0]);
}

static void fork_one(void)
{
    pid_t child = fork();
    int status;

    if (child == 0) {
        work();
        _exit(0);
    }
    if (child < 0 || waitpid(child, &status, 0) != child || status)
        _exit(5);
}

static void do_word(char *word)
{
    char *file = strchr(word, ' '), *name = file ? strchr(file + 1, ' ') : NULL;

    if (name)
        *name++ = *file++ = '\0';
    if (strcmp(word, "before") == 0)
        for (int i = 0; i < 10; i++)
            old[i] = malloc(5000);
    else if (strcmp(word, "after") == 0)
        for (int i = 0; i < 10; i++)
            free(old[i]);
    else if (strcmp(word, "work") == 0)
        work();
    else if (strcmp(word, "forget") == 0)
        forget();
    else if (strcmp(word, "open") == 0 && name) {
        library = dlopen(file, RTLD_NOW);
        *(void **)&function = library ? dlsym(library, name) : NULL;
        if (!function)
            _exit(6);
    } else if (strcmp(word, "call") == 0)
        for (int i = 0; i < 10; i++)
            keep(function());
    else if (strcmp(word, "close") == 0)
        dlclose(library);
    else if (strcmp(word, "doze") == 0)
        doze();
    else if (strcmp(word, "exec") == 0 && name)
        execl(file, file, name, (char *)NULL);
    else if (strcmp(word, "sandbox") == 0)
        sandbox();
    else if (strcmp(word, "fortress") == 0)
        fortress(SECCOMP_RET_ERRNO | 1);
    else if (strcmp(word, "deadly") == 0)
        fortress(SECCOMP_RET_KILL_PROCESS);
    else if (strcmp(word, "fork") == 0)
        fork_one();
    else
        _exit(7);
}

int main(void)
{
    char line[512];
    size_t n = 0;

    while (n < sizeof line - 1 && read(0, line + n, 1) == 1) {
        if (line[n] != '\n') {
            n++;
            continue;
        }
        line[n] = '\0';
        if (strcmp(line, "quit") == 0)
            return nkept > 0 ? 0 : 1;
        do_word(line);
        if (write(1, "done\n", 5) != 5)
            return 2;
        n = 0;
    }
    return 2;
}
