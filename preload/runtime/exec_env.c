/*
 * Problem: decide within microseconds, in a process about which nothing can be assumed, whether a
 * program to be executed gets the recorder. If not, remove the recorder from an environment that
 * must not be changed.
 *
 * Algorithm: preloadable_judge classifies the file. Our entry of LD_PRELOAD is removed if the
 * library would harm the program, or serve neither it nor its children. It stays for programs that
 * merely ignore the library (static and set-user-id programs), because their own children may use
 * it.
 *
 * Rejected: putting the recorder back into environments that lack it. A program that clears an
 * environment has a reason, and the command must run as if it were not recorded; the summary
 * reports it as unrecorded instead.
 *
 * Rejected: deciding in the child, in a library that disables itself, because the loading itself
 * does the harm.
 */
#define _GNU_SOURCE
#include "preload/runtime/exec_env.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "common/kernel.h"
#include "common/preloadable.h"
#include "preload/runtime/run_status_client.h"

#define PRELOAD "LD_PRELOAD="
#define OPTIONS "FLAMEMEM_OPTIONS="
#define LIBRARY "libflamemem.so"
/* Bytes of the other recorder's path. */
#define OTHER_MAX 512

static const struct config *config;

void exec_env_set(const struct config *c)
{
    config = c;
}

/* ---- decisions ---- */

struct decision {
    enum unrecorded_why why; /* UNRECORDED_NONE: no note is written */
    bool without;            /* execute without the recorder */
    bool other;              /* execute with the recorder for the other C library */
};

/*
 * Whether the directory is private to another user. A process that has changed its user id may
 * still have capabilities to write to it, but loses them when it executes the program.
 */
static bool becomes_other_user(const char *dir)
{
    long user = kernel_call(SYS_geteuid);
    struct stat st;

    return user > 0 && kernel_call(SYS_newfstatat, AT_FDCWD, dir, &st, 0) == 0 &&
           S_ISDIR(st.st_mode) && !(st.st_mode & 077) && st.st_uid != (uid_t)user;
}

/* Why the file or directory path[0..len) cannot be used by this process. */
static enum unrecorded_why reach(const char *path, size_t len, int mode)
{
    char name[512];

    if (!len || len >= sizeof name)
        return UNRECORDED_NONE;
    memcpy(name, path, len);
    name[len] = '\0';
    switch (preloadable_access(name, mode)) {
    case EACCES:
        return UNRECORDED_USER;
    case 0:
        return becomes_other_user(name) ? UNRECORDED_USER : UNRECORDED_NONE;
    case ENOENT:
    case ENOTDIR:
        return run_status_out_of_sight();
    default: /* it can, or a sandbox forbids the question */
        return UNRECORDED_NONE;
    }
}

/* Why a process with these user ids and this root could not load the recorder and write a trace. */
static enum unrecorded_why reach_run(const char *library, size_t len)
{
    enum unrecorded_why why =
        memchr(library, '/', len) ? reach(library, len, R_OK) : UNRECORDED_NONE;

    if (why != UNRECORDED_NONE)
        return why;
    return reach(config->out, (size_t)(strrchr(config->out, '/') - config->out), W_OK | X_OK);
}

/* For a program that could be recorded: decides by its environment. */
static struct decision decide_by_environment(char *const *envp)
{
    const char *list = preloadlist_value(envp, PRELOAD), *entry, *ours = NULL;
    size_t len, our_len = 0;
    enum unrecorded_why why;

    while (list && (entry = preloadlist_next(&list, &len))) {
        if (preloadlist_is_sanitizer(entry, len))
            return (struct decision){.why = UNRECORDED_SANITIZER, .without = true};
        if (preloadlist_is(entry, len, LIBRARY)) {
            ours = entry;
            our_len = len;
        }
    }
    if (!ours)
        return (struct decision){.why = UNRECORDED_ENVIRONMENT};
    if (!run_status_have())
        return (struct decision){.why = UNRECORDED_NONE};
    /* Without options it would write a trace to its present directory. */
    if (!preloadlist_value(envp, OPTIONS))
        return (struct decision){.why = UNRECORDED_ENVIRONMENT, .without = true};
    why = reach_run(ours, our_len);
    return (struct decision){.why = why, .without = why != UNRECORDED_NONE};
}

/*
 * The recorder for musl has the same file name as the other, in a folder "musl" beside it. False:
 * it does not exist, or its path is too long.
 */
static bool find_other(const char *ours, size_t len, bool musl, char instead[OTHER_MAX])
{
    static const char folder[] = "musl/";
    const size_t folder_len = sizeof folder - 1, name_len = sizeof LIBRARY - 1;
    size_t dir = len - name_len;

    if (!musl) {
        if (dir < folder_len || memcmp(ours + dir - folder_len, folder, folder_len) != 0)
            return false;
        dir -= folder_len;
    }
    if (dir + folder_len + name_len >= OTHER_MAX)
        return false;
    memcpy(instead, ours, dir);
    if (musl) {
        memcpy(instead + dir, folder, folder_len);
        dir += folder_len;
    }
    memcpy(instead + dir, LIBRARY, name_len + 1);
    return preloadable_access(instead, R_OK) == 0;
}

/* For a program of the other C library: takes the recorder for that library, if it is installed. */
static struct decision decide_by_library(bool musl, char *const *envp, char instead[OTHER_MAX])
{
    struct decision d = decide_by_environment(envp);
    const char *list = preloadlist_value(envp, PRELOAD), *entry;
    size_t len;

    if (d.why != UNRECORDED_NONE || d.without)
        return d;
    while (list && (entry = preloadlist_next(&list, &len)))
        if (preloadlist_is(entry, len, LIBRARY) && find_other(entry, len, musl, instead))
            return (struct decision){.other = true};
    return (struct decision){.why = musl ? UNRECORDED_MUSL : UNRECORDED_GNU, .without = true};
}

static struct decision do_not_follow(enum preloadable verdict)
{
    bool runs = verdict != PRELOADABLE_NO_FILE && verdict != PRELOADABLE_DAMAGED;

    return (struct decision){.without = true,
                             .why = config->unfollowed && runs ? UNRECORDED_NOT_FOLLOWED
                                                               : UNRECORDED_NONE};
}

static struct decision decide(enum preloadable verdict, char *const *envp, char instead[OTHER_MAX])
{
    if (run_status_over())
        return (struct decision){.without = true};
    if (!config->follow)
        return do_not_follow(verdict);
    if (verdict == PRELOADABLE_LEAK_SANITIZER)
        verdict = config->leak ? PRELOADABLE_SANITIZER : PRELOADABLE_YES;
    switch (verdict) {
    case PRELOADABLE_YES:
    case PRELOADABLE_UNKNOWN:
    case PRELOADABLE_NO_FORMAT:
        return decide_by_environment(envp);
    case PRELOADABLE_MUSL:
    case PRELOADABLE_GNU:
        return decide_by_library(verdict == PRELOADABLE_MUSL, envp, instead);
    case PRELOADABLE_SANITIZER:
        return (struct decision){.why = UNRECORDED_SANITIZER, .without = true};
    case PRELOADABLE_MACHINE:
        return (struct decision){.why = UNRECORDED_MACHINE, .without = true};
    case PRELOADABLE_STATIC:
        return (struct decision){.why = UNRECORDED_STATIC};
    case PRELOADABLE_SETUID:
        return (struct decision){.why = UNRECORDED_SETUID};
    case PRELOADABLE_SETGID:
        return (struct decision){.why = UNRECORDED_SETGID};
    case PRELOADABLE_CAPABILITIES:
        return (struct decision){.why = UNRECORDED_CAPABILITIES};
    default: /* exec will fail, and return the error */
        return (struct decision){.why = UNRECORDED_NONE};
    }
}

/* ---- before and after ---- */

static void act(struct exec_env *h, enum preloadable verdict, const char *name, char *const *envp,
                uint32_t pid)
{
    char instead[OTHER_MAX];
    struct decision d = decide(verdict, envp, instead);

    if (d.other)
        preloadlist_instead(&h->without, envp, LIBRARY, instead);
    if (d.without)
        preloadlist_without(&h->without, envp, LIBRARY);
    if (h->without.envp)
        h->envp = h->without.envp;
    if (d.why != UNRECORDED_NONE)
        h->note = run_status_add(d.why, 0, pid, name);
}

static void begin(struct exec_env *h, char *const *envp)
{
    h->envp = envp;
    h->note = 0;
    h->without.envp = NULL;
    h->without.pages = NULL;
}

void exec_env_begin(struct exec_env *h, const char *path, const char *name, char *const *envp,
                    uint32_t pid)
{
    struct preloadable_answer answer;

    begin(h, envp);
    if (!config || !path)
        return;
    preloadable_judge(path, &preloadable_here, &answer);
    if (answer.verdict != PRELOADABLE_NO_FORMAT)
        act(h, answer.verdict, name, envp, pid);
}

static FLAME_NOINLINE enum preloadable judge_name(const char *name)
{
    struct preloadable_answer answer;
    char path[PATH_MAX];

    if (strchr(name, '/'))
        preloadable_judge(name, &preloadable_here, &answer);
    else if (preloadable_find(name, getenv("PATH"), path, sizeof path) == 0)
        preloadable_judge(path, &preloadable_here, &answer);
    else
        return PRELOADABLE_NO_FILE;
    return answer.verdict;
}

void exec_env_begin_search(struct exec_env *h, const char *name, char *const *envp, uint32_t pid)
{
    begin(h, envp);
    if (config && name)
        act(h, judge_name(name), name, envp, pid);
}

void exec_env_end(struct exec_env *h, uint32_t pid)
{
    if (pid)
        run_status_set_pid(h->note, pid);
    else
        run_status_take_back(h->note);
    preloadlist_release(&h->without);
}
