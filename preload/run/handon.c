/*
 * Problem: decide in a few microseconds, in a process of which nothing can be assumed,
 * whether what it executes should get the recorder; and take the recorder out of an
 * environment that is not ours to change.
 *
 * Algorithm: preloadable_judge says what the file is. What it would harm, and what is of
 * no use to anybody, loses our entry of LD_PRELOAD; what merely ignores the library
 * (static and set-user-id programs) keeps it, for its own children's sake.
 *
 * Rejected: putting the recorder back into environments that lack it. Whoever clears an
 * environment has a reason, and the command is to run as if we were not there; that it is
 * not recorded is said instead. Judging in the child, as a library that steps aside: it
 * is the loading that does the harm.
 */
#define _GNU_SOURCE
#include "preload/run/handon.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "common/preloadable.h"
#include "preload/run/notes.h"

#define PRELOAD "LD_PRELOAD="
#define OPTIONS "FLAMEMEM_OPTIONS="
#define LIBRARY "libflamemem.so"

static const struct config *config;

void handon_set(const struct config *c)
{
    config = c;
}

/* ---- what is to be done ---- */

struct decision {
    enum runnote_why why; /* RUNNOTE_NONE: there is nothing to tell */
    bool without;         /* without the recorder */
};

/* Why the file or directory path[0..len) cannot be used by this process. */
static enum runnote_why reach(const char *path, size_t len, int mode)
{
    char name[512];

    if (!len || len >= sizeof name)
        return RUNNOTE_NONE;
    memcpy(name, path, len);
    name[len] = '\0';
    switch (preloadable_access(name, mode)) {
    case EACCES:
        return RUNNOTE_USER;
    case ENOENT:
    case ENOTDIR:
        return RUNNOTE_OUT_OF_SIGHT;
    default: /* it can, or a sandbox does not let us ask */
        return RUNNOTE_NONE;
    }
}

/* Whether a process of these ids and in this root could load us and write a trace. */
static enum runnote_why reach_run(const char *library, size_t len)
{
    enum runnote_why why = memchr(library, '/', len) ? reach(library, len, R_OK) : RUNNOTE_NONE;

    if (why != RUNNOTE_NONE)
        return why;
    return reach(config->out, (size_t)(strrchr(config->out, '/') - config->out), W_OK | X_OK);
}

/* For a program that could be recorded: does its environment allow it? */
static struct decision decide_by_environment(char *const *envp)
{
    const char *list = preloadlist_value(envp, PRELOAD), *entry, *ours = NULL;
    size_t len, our_len = 0;
    enum runnote_why why;

    while (list && (entry = preloadlist_next(&list, &len))) {
        if (preloadlist_is_sanitizer(entry, len))
            return (struct decision){RUNNOTE_SANITIZER, true};
        if (preloadlist_is(entry, len, LIBRARY)) {
            ours = entry;
            our_len = len;
        }
    }
    if (!ours)
        return (struct decision){RUNNOTE_ENVIRONMENT, false};
    if (!notes_have())
        return (struct decision){RUNNOTE_NONE, false};
    /* It would write a trace to its present directory. */
    if (!preloadlist_value(envp, OPTIONS))
        return (struct decision){RUNNOTE_ENVIRONMENT, true};
    why = reach_run(ours, our_len);
    return (struct decision){why, why != RUNNOTE_NONE};
}

static struct decision decide(enum preloadable verdict, char *const *envp)
{
    if (!config->follow || notes_over())
        return (struct decision){RUNNOTE_NONE, true};
    if (verdict == PRELOADABLE_LEAK_SANITIZER)
        verdict = config->leak ? PRELOADABLE_SANITIZER : PRELOADABLE_YES;
    switch (verdict) {
    case PRELOADABLE_YES:
    case PRELOADABLE_UNKNOWN:
    case PRELOADABLE_NO_FORMAT:
        return decide_by_environment(envp);
    case PRELOADABLE_MUSL:
        return (struct decision){RUNNOTE_MUSL, true};
    case PRELOADABLE_SANITIZER:
        return (struct decision){RUNNOTE_SANITIZER, true};
    case PRELOADABLE_MACHINE:
        return (struct decision){RUNNOTE_MACHINE, true};
    case PRELOADABLE_STATIC:
        return (struct decision){RUNNOTE_STATIC, false};
    case PRELOADABLE_SETUID:
        return (struct decision){RUNNOTE_SETUID, false};
    case PRELOADABLE_SETGID:
        return (struct decision){RUNNOTE_SETGID, false};
    case PRELOADABLE_CAPABILITIES:
        return (struct decision){RUNNOTE_CAPABILITIES, false};
    default: /* exec is going to fail, and to say so */
        return (struct decision){RUNNOTE_NONE, false};
    }
}

/* ---- before and after ---- */

static void act(struct handon *h, enum preloadable verdict, const char *name, char *const *envp,
                uint32_t pid)
{
    struct decision d = decide(verdict, envp);

    if (d.without)
        preloadlist_without(&h->without, envp, LIBRARY);
    if (h->without.envp)
        h->envp = h->without.envp;
    if (d.why != RUNNOTE_NONE)
        h->note = notes_add(d.why, 0, pid, name);
}

static void begin(struct handon *h, char *const *envp)
{
    h->envp = envp;
    h->note = 0;
    h->without.envp = NULL;
    h->without.pages = NULL;
}

void handon_begin(struct handon *h, const char *path, const char *name, char *const *envp,
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

void handon_begin_search(struct handon *h, const char *name, char *const *envp, uint32_t pid)
{
    begin(h, envp);
    if (config && name)
        act(h, judge_name(name), name, envp, pid);
}

void handon_end(struct handon *h, uint32_t pid)
{
    if (pid)
        notes_set_pid(h->note, pid);
    else
        notes_take_back(h->note);
    preloadlist_release(&h->without);
}
