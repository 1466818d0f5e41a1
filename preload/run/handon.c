/*
 * Problem: decide in a few microseconds, in a process of which nothing can be assumed,
 * whether what it executes should get the recorder; and take the recorder out of an
 * environment that is not ours to change.
 *
 * Algorithm: preloadable_judge says what the file is. What it would harm, and what is of
 * no use to anybody, loses our entry of LD_PRELOAD; what merely ignores the library
 * (static and set-user-id programs) keeps it, for its own children's sake. The copy of
 * the environment is an array of the same pointers, with one string of our own.
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

#include "common/pages.h"
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

/* ---- entries of LD_PRELOAD ---- */

/* The next entry of a list as the loader cuts it, or NULL. *s is moved behind it. */
static const char *next_entry(const char **s, size_t *len)
{
    const char *entry = *s + strspn(*s, ": ");

    *len = strcspn(entry, ": ");
    *s = entry + *len;
    return *len ? entry : NULL;
}

/* The last component of an entry, which ends where the list goes on. */
static const char *entry_name(const char *s, size_t len)
{
    const char *slash = memrchr(s, '/', len);

    return slash ? slash + 1 : s;
}

static bool is_recorder(const char *entry, size_t len)
{
    const char *base = entry_name(entry, len);

    return len - (size_t)(base - entry) == strlen(LIBRARY) &&
           memcmp(base, LIBRARY, strlen(LIBRARY)) == 0;
}

/* Somebody preloads a sanitizer's library, which must come first: libasan.so.8. */
static bool is_sanitizer(const char *entry, size_t len)
{
    static const char *const names[] = {"libasan.so", "libtsan.so", "libhwasan.so"};
    const char *base = entry_name(entry, len);

    for (size_t i = 0; i < ARRAY_LEN(names); i++)
        if (strncmp(base, names[i], strlen(names[i])) == 0)
            return true;
    return false;
}

static bool begins(const char *s, const char *with)
{
    return strncmp(s, with, strlen(with)) == 0;
}

/* The value of the last entry that begins with `name`: the one the loader takes. */
static const char *value_of(char *const *envp, const char *name)
{
    const char *value = NULL;

    for (; envp && *envp; envp++)
        if (begins(*envp, name))
            value = *envp + strlen(name);
    return value;
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
    const char *list = value_of(envp, PRELOAD), *entry, *ours = NULL;
    size_t len, our_len = 0;
    enum runnote_why why;

    while (list && (entry = next_entry(&list, &len))) {
        if (is_sanitizer(entry, len))
            return (struct decision){RUNNOTE_SANITIZER, true};
        if (is_recorder(entry, len)) {
            ours = entry;
            our_len = len;
        }
    }
    if (!ours)
        return (struct decision){RUNNOTE_ENVIRONMENT, false};
    if (!notes_have())
        return (struct decision){RUNNOTE_NONE, false};
    /* It would write a trace to its present directory. */
    if (!value_of(envp, OPTIONS))
        return (struct decision){RUNNOTE_ENVIRONMENT, true};
    why = reach_run(ours, our_len);
    return (struct decision){why, why != RUNNOTE_NONE};
}

static struct decision decide(enum preloadable verdict, char *const *envp)
{
    if (!config->follow || notes_over())
        return (struct decision){RUNNOTE_NONE, true};
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

/* ---- the environment without us ---- */

/* Writes `entry`, a whole "LD_PRELOAD=...", without ours; false: nothing is left of it. */
static bool write_list(char *out, const char *entry)
{
    const char *s = entry + strlen(PRELOAD), *one;
    char *at = out + strlen(PRELOAD), *begin = at;
    size_t len;

    memcpy(out, PRELOAD, strlen(PRELOAD));
    while ((one = next_entry(&s, &len))) {
        if (is_recorder(one, len))
            continue;
        if (at != begin)
            *at++ = ':';
        memcpy(at, one, len);
        at += len;
    }
    *at = '\0';
    return at != begin;
}

static bool has_recorder(const char *list)
{
    const char *entry;
    size_t len;

    while ((entry = next_entry(&list, &len)))
        if (is_recorder(entry, len))
            return true;
    return false;
}

/* Room for the array and the string; the caller's environment stays when there is none. */
static bool find_room(struct handon *h, size_t entries, size_t text, char ***array, char **list)
{
    *array = h->entries;
    *list = h->list;
    if (entries <= HANDON_ENTRIES && text <= HANDON_LIST)
        return true;
    h->pages_size = entries * sizeof **array + text;
    h->pages = pages_alloc(h->pages_size);
    *array = h->pages;
    *list = (char *)h->pages + entries * sizeof **array;
    return h->pages != NULL;
}

static void leave_out(struct handon *h, char *const *envp)
{
    const char *preload = value_of(envp, PRELOAD);
    size_t entries = 1, n = 0;
    char **array, *list;

    if (!preload || !has_recorder(preload))
        return;
    for (char *const *e = envp; *e; e++)
        entries++;
    if (!find_room(h, entries, strlen(PRELOAD) + strlen(preload) + 1, &array, &list))
        return;
    for (char *const *e = envp; *e; e++)
        /* Of several the loader takes the last; that one is kept, in its place. */
        if (!begins(*e, PRELOAD))
            array[n++] = *e;
        else if (*e + strlen(PRELOAD) == preload && write_list(list, *e))
            array[n++] = list;
    array[n] = NULL;
    h->envp = array;
}

/* ---- before and after ---- */

static void act(struct handon *h, enum preloadable verdict, const char *name, char *const *envp,
                uint32_t pid)
{
    struct decision d = decide(verdict, envp);

    if (d.without)
        leave_out(h, envp);
    if (d.why != RUNNOTE_NONE)
        h->note = notes_add(d.why, 0, pid, name);
}

static void begin(struct handon *h, char *const *envp)
{
    h->envp = envp;
    h->note = 0;
    h->pages = NULL;
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
    if (h->pages)
        pages_free(h->pages, h->pages_size);
}
