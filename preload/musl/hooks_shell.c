/*
 * Functions by which musl itself executes /bin/sh: system, popen and wordexp. Its own calls of exec
 * and posix_spawn pass by hooks_exec.c. A shell that uses the GNU C library would then stop in its
 * loader because of a recorder for musl. So during the call `environ` is the environment for the
 * shell (preload/runtime/exec_env.h): the same strings except for LD_PRELOAD.
 *
 * A setenv of another thread during the call may be lost. In musl's own system, which reads the
 * environment without a lock, it may be torn.
 */
#define _GNU_SOURCE
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <wordexp.h>

#include "preload/runtime/exec_env.h"
#include "preload/runtime/next_symbol.h"

#define EXPORT __attribute__((visibility("default")))
#define SHELL "/bin/sh"

extern char **environ;

struct lent {
    struct exec_env h;
    char **own; /* the program's environment */
};

static void lend(struct lent *l)
{
    l->own = environ;
    exec_env_begin(&l->h, SHELL, "sh", environ, 0);
    if ((char **)l->h.envp != l->own)
        environ = (char **)l->h.envp; /* NOLINT */
}

static void take_back(struct lent *l)
{
    if ((char **)l->h.envp == environ)
        environ = l->own;
    exec_env_end(&l->h, 0);
}

EXPORT int system(const char *command)
{
    static int (*next)(const char *);
    struct lent l;
    int result;

    if (!next)
        *(void **)&next = next_symbol_find("system", NULL);
    lend(&l);
    result = next(command);
    take_back(&l);
    return result;
}

EXPORT FILE *popen(const char *command, const char *mode)
{
    static FILE *(*next)(const char *, const char *);
    struct lent l;
    FILE *result;

    if (!next)
        *(void **)&next = next_symbol_find("popen", NULL);
    lend(&l);
    result = next(command, mode);
    take_back(&l);
    return result;
}

EXPORT int wordexp(const char *words, wordexp_t *to, int flags)
{
    static int (*next)(const char *, wordexp_t *, int);
    struct lent l;
    int result;

    if (!next)
        *(void **)&next = next_symbol_find("wordexp", NULL);
    lend(&l);
    result = next(words, to, flags);
    take_back(&l);
    return result;
}
