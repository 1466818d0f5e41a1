#define _GNU_SOURCE
#include "inside/wait/execs.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "common/preloadable.h"
#include "common/env/preloadlist.h"
#include "common/procpath.h"

#define LIBRARY "libflamewait.so"
#define PATH_SIZE 512

/* The program's path, which may be in `buf`; NULL: it is not known, or is NULL. */
static const char *path_of(const struct patch_call *call, char buf[PATH_SIZE])
{
    bool at = call->number == SYS_execveat;
    const char *path = (const char *)call->args[at ? 1 : 0];
    struct proc_path dir;
    size_t len, rest;

    if (!at || !path || path[0] == '/' || (int)call->args[0] == AT_FDCWD)
        return path;
    dir = proc_path_of(PROC_SELF, "fd", (int)call->args[0]);
    len = strlen(dir.s);
    rest = strlen(path);
    if ((int)call->args[0] < 0 || len + 1 + rest >= PATH_SIZE)
        return NULL;
    memcpy(buf, dir.s, len + 1);
    if (rest) {
        buf[len] = '/';
        memcpy(buf + len + 1, path, rest + 1);
    }
    return buf;
}

/* Whether a process of these ids and in this root can load the library that `entry` names. */
static bool can_load(const char *entry, size_t len)
{
    char path[PATH_SIZE];

    if (len >= sizeof path)
        return false;
    memcpy(path, entry, len);
    path[len] = '\0';
    switch (preloadable_access(path, R_OK)) {
    case EACCES:
    case ENOENT:
    case ENOTDIR:
        return false;
    default: /* it can, or a sandbox does not let us ask */
        return true;
    }
}

static bool environment_allows(char *const *envp)
{
    const char *list = preloadlist_value(envp, "LD_PRELOAD="), *entry;
    size_t len;

    while (list && (entry = preloadlist_next(&list, &len)))
        if (preloadlist_is_sanitizer(entry, len) ||
            (preloadlist_is(entry, len, LIBRARY) && !can_load(entry, len)))
            return false;
    return true;
}

static bool may_have_it(const char *path, char *const *envp)
{
    struct preloadable_answer answer;

    preloadable_judge(path, &preloadable_here, &answer);
    switch (answer.verdict) {
    case PRELOADABLE_MUSL:
    case PRELOADABLE_SANITIZER:
    case PRELOADABLE_LEAK_SANITIZER:
    case PRELOADABLE_MACHINE:
        return false;
    default: /* it can, or ignores the library, or exec is going to fail */
        return environment_allows(envp);
    }
}

void execs_forget(char *const *envp)
{
    for (; envp && *envp; envp++) {
        char *const alone[] = {*envp, NULL};
        const char *list = preloadlist_value(alone, "LD_PRELOAD="), *entry;
        size_t len;

        while (list && (entry = preloadlist_next(&list, &len)))
            if (preloadlist_is(entry, len, LIBRARY)) {
                memmove(*envp + (entry - *envp), list, strlen(list) + 1);
                list = entry;
            }
    }
}

long execs_make(const struct patch_call *call)
{
    unsigned env = call->number == SYS_execveat ? 3 : 2;
    char *const *envp = (char *const *)call->args[env];
    struct patch_call changed = *call;
    struct preloadlist_copy copy;
    char buf[PATH_SIZE];
    const char *path = path_of(call, buf);
    long result;

    if (!path || !envp || may_have_it(path, envp))
        return patch_make(call);
    preloadlist_without(&copy, envp, LIBRARY);
    if (copy.envp)
        changed.args[env] = (unsigned long)copy.envp;
    result = patch_make(&changed);
    preloadlist_release(&copy);
    return result;
}
