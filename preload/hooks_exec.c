/*
 * Interposed functions that execute programs (preload/runtime/exec_env.h says why). Each ends in
 * one of six next definitions. Programs that the C library executes by itself (system, popen,
 * wordexp: /bin/sh) do not pass through here; the shell's own execs are then seen in the shell.
 * Calls of syscall(2) for execve or execveat come here from hooks_sandbox.c. A program that
 * contains the system call's instruction itself is not seen.
 *
 * The C library's headers are not included here: their declarations promise that arguments are not
 * null. A program that breaks the promise must get the same result as without the recorder.
 */
#define _GNU_SOURCE

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <sys/syscall.h>

#include "common/kernel.h"
#include "common/procpath.h"
#include "preload/runtime/next_symbol.h"
#include "preload/runtime/exec_env.h"
#include "preload/hooks_exec.h"
#include "preload/next_malloc.h"
#include "preload/runtime/log.h"

#define EXPORT __attribute__((visibility("default")))
/* AT_EMPTY_PATH of fcntl.h: the descriptor is the program. */
#define EMPTY_PATH 0x1000

typedef char *const *words; /* an argv or an envp */

extern char **environ;

int execve(const char *path, words argv, words envp);
int execv(const char *path, words argv);
int execvp(const char *file, words argv);
int execvpe(const char *file, words argv, words envp);
int execl(const char *path, const char *arg, ...);
int execlp(const char *file, const char *arg, ...);
int execle(const char *path, const char *arg, ...);
int fexecve(int fd, words argv, words envp);
int execveat(int dir, const char *path, words argv, words envp, int flags);
int posix_spawn(int *pid, const char *path, const void *actions, const void *attributes, words argv,
                words envp);
int posix_spawnp(int *pid, const char *file, const void *actions, const void *attributes,
                 words argv, words envp);

static struct {
    int (*execve)(const char *, words, words);
    int (*execvpe)(const char *, words, words);
    int (*fexecve)(int, words, words);
    int (*execveat)(int, const char *, words, words, int);
    int (*posix_spawn)(int *, const char *, const void *, const void *, words, words);
    int (*posix_spawnp)(int *, const char *, const void *, const void *, words, words);
} next;

/* Fallback for a C library without execveat, which it has had since 2.34. */
static int bare_execveat(int dir, const char *path, words argv, words envp, int flags)
{
    errno = (int)-kernel_call(SYS_execveat, dir, path, argv, envp, flags);
    return -1;
}

void hooks_exec_resolve(void)
{
#define FIND(name) *(void **)&next.name = next_symbol_find(#name, NULL)
    FIND(execve);
    FIND(execvpe);
    FIND(fexecve);
    FIND(execveat);
    FIND(posix_spawn);
    FIND(posix_spawnp);
#undef FIND
    if (!next.execveat)
        next.execveat = bare_execveat;
}

/* Finds the next definitions, as a library's constructor may execute a program before the
 * recorder has begun. */
static void be_ready(void)
{
    if (unlikely(!next.execve))
        hooks_exec_resolve();
}

static uint32_t own_pid(void)
{
    long pid = kernel_call(SYS_getpid);

    return pid > 0 ? (uint32_t)pid : 0;
}

/* ---- the six next definitions ---- */

/* The other hooks call these two, not the exported functions, which the program may have
 * replaced. */
static int run_path(const char *path, words argv, words envp)
{
    struct exec_env h;
    int result;

    be_ready();
    exec_env_begin(&h, path, path, envp, own_pid());
    result = next.execve(path, argv, h.envp);
    exec_env_end(&h, 0);
    return result;
}

static int run_file(const char *file, words argv, words envp)
{
    struct exec_env h;
    int result;

    be_ready();
    exec_env_begin_search(&h, file, envp, own_pid());
    result = next.execvpe(file, argv, h.envp);
    exec_env_end(&h, 0);
    return result;
}

EXPORT int execve(const char *path, words argv, words envp)
{
    return run_path(path, argv, envp);
}

EXPORT int execvpe(const char *file, words argv, words envp)
{
    return run_file(file, argv, envp);
}

EXPORT int posix_spawn(int *pid, const char *path, const void *actions, const void *attributes,
                       words argv, words envp)
{
    struct exec_env h;
    int result, child = 0;

    be_ready();
    exec_env_begin(&h, path, path, envp, 0);
    result = next.posix_spawn(&child, path, actions, attributes, argv, h.envp);
    exec_env_end(&h, result ? 0 : (uint32_t)child);
    if (!result && pid)
        *pid = child;
    return result;
}

EXPORT int posix_spawnp(int *pid, const char *file, const void *actions, const void *attributes,
                        words argv, words envp)
{
    struct exec_env h;
    int result, child = 0;

    be_ready();
    exec_env_begin_search(&h, file, envp, 0);
    result = next.posix_spawnp(&child, file, actions, attributes, argv, h.envp);
    exec_env_end(&h, result ? 0 : (uint32_t)child);
    if (!result && pid)
        *pid = child;
    return result;
}

/* Names of the program that a descriptor refers to: `path` for the check of the file by
 * exec_env_begin, `name` for messages. */
struct of_descriptor {
    char path[512]; /* /proc/self/fd/N, or with a path below it */
    char name[256];
};

static bool name_descriptor(struct of_descriptor *d, int fd, const char *below)
{
    struct proc_path link = proc_path_of(PROC_SELF, "fd", fd);
    size_t len = strlen(link.s), rest = strlen(below);
    long n;

    if (fd < 0 || len + 1 + rest >= sizeof d->path)
        return false;
    memcpy(d->path, link.s, len + 1);
    n = kernel_call(SYS_readlinkat, -1, d->path, d->name, sizeof d->name - 1);
    d->name[n > 0 ? n : 0] = '\0';
    if (rest) {
        d->path[len] = '/';
        memcpy(d->path + len + 1, below, rest + 1);
    }
    return true;
}

EXPORT int fexecve(int fd, words argv, words envp)
{
    struct of_descriptor d;
    struct exec_env h;
    int result;

    be_ready();
    exec_env_begin(&h, name_descriptor(&d, fd, "") ? d.path : NULL, d.name, envp, own_pid());
    result = next.fexecve(fd, argv, h.envp);
    exec_env_end(&h, 0);
    return result;
}

static void begin_at(struct exec_env *h, struct of_descriptor *d, int dir, const char *path,
                     words envp, int flags)
{
    const char *judged = path, *name = path;

    /* A path from the root, or from the current directory (dir is AT_FDCWD), is used as it is. */
    if (path && path[0] != '/' && dir >= 0 && (path[0] || (flags & EMPTY_PATH))) {
        judged = name_descriptor(d, dir, path) ? d->path : NULL;
        name = path[0] ? path : d->name;
    }
    exec_env_begin(h, judged, name, envp, own_pid());
}

EXPORT int execveat(int dir, const char *path, words argv, words envp, int flags)
{
    struct of_descriptor d;
    struct exec_env h;
    int result;

    be_ready();
    begin_at(&h, &d, dir, path, envp, flags);
    result = next.execveat(dir, path, argv, h.envp, flags);
    exec_env_end(&h, 0);
    return result;
}

/* ---- by the numbers of their system calls ---- */

long hooks_exec_by_number(const unsigned long a[6])
{
    struct exec_env h;
    long result;

    exec_env_begin(&h, (const char *)a[0], (const char *)a[0], (words)a[2], own_pid());
    result = real.syscall(SYS_execve, a[0], a[1], h.envp);
    exec_env_end(&h, 0);
    return result;
}

long hooks_exec_at_by_number(const unsigned long a[6])
{
    struct of_descriptor d;
    struct exec_env h;
    long result;

    begin_at(&h, &d, (int)a[0], (const char *)a[1], (words)a[3], (int)a[4]);
    result = real.syscall(SYS_execveat, a[0], a[1], a[2], h.envp, a[4]);
    exec_env_end(&h, 0);
    return result;
}

/* ---- functions that end in one of the six ---- */

EXPORT int execv(const char *path, words argv)
{
    return run_path(path, argv, environ);
}

EXPORT int execvp(const char *file, words argv)
{
    return run_file(file, argv, environ);
}

/* Number of arguments from `arg` on, up to the null one. */
static size_t count_words(const char *arg, va_list ap)
{
    size_t n = 0;

    for (const char *s = arg; s; s = va_arg(ap, const char *))
        n++;
    return n;
}

/* Fills argv[0..n] with the first argument and those that follow it, and NULL. */
static void take_words(char **argv, size_t n, const char *arg, va_list ap)
{
    for (size_t i = 0; i < n; i++) {
        argv[i] = (char *)(uintptr_t)arg;
        arg = va_arg(ap, const char *);
    }
    argv[n] = NULL;
}

/* Builds argv on the stack, as the C library itself does. */
#define TAKE_WORDS(argv, arg)                                                                      \
    do {                                                                                           \
        va_list ap_;                                                                               \
        size_t n_;                                                                                 \
                                                                                                   \
        va_start(ap_, arg);                                                                        \
        n_ = count_words(arg, ap_);                                                                \
        va_end(ap_);                                                                               \
        (argv) = __builtin_alloca((n_ + 1) * sizeof *(argv));                                      \
        va_start(ap_, arg);                                                                        \
        take_words(argv, n_, arg, ap_);                                                            \
        va_end(ap_);                                                                               \
    } while (0)

EXPORT int execl(const char *path, const char *arg, ...)
{
    char **argv;

    TAKE_WORDS(argv, arg);
    return run_path(path, argv, environ);
}

EXPORT int execlp(const char *file, const char *arg, ...)
{
    char **argv;

    TAKE_WORDS(argv, arg);
    return run_file(file, argv, environ);
}

/* The environment follows the null argument. */
EXPORT int execle(const char *path, const char *arg, ...)
{
    char **argv;
    words envp;
    va_list ap;

    TAKE_WORDS(argv, arg);
    va_start(ap, arg);
    count_words(arg, ap);
    envp = va_arg(ap, words);
    va_end(ap);
    return run_path(path, argv, envp);
}
