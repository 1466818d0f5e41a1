#define _GNU_SOURCE
#include "tracer/ptrace/preload_strip.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include "common/proc_stat.h"
#include "common/str_starts.h"
#include "common/preloadable.h"
#include "common/procpath.h"
#include "common/strbuf.h"
#include "common/env/preloadlist.h"
#include "tracer/objects/proctask.h"

#define LIBRARY "libflamewait.so"
#define LIST "LD_PRELOAD="

/* ---- the environment, as it lies on the new stack ---- */

/* Appends the whole of /proc/PID/environ; nothing where it cannot be read. */
static void read_environment(pid_t tid, struct strbuf *to)
{
    int fd = open(proc_path(tid, "environ").s, O_RDONLY | O_CLOEXEC);
    char some[4096];
    ssize_t n;

    while (fd >= 0 && (n = read(fd, some, sizeof some)) > 0)
        strbuf_add(to, some, (size_t)n);
    if (fd >= 0)
        close(fd);
}

/* Address of the environment in the process; 0: unknown. */
static uintptr_t environment_at(pid_t tid)
{
    char text[1024];
    const char *start;

    if (task_read(tid, "stat", text, sizeof text) <= 0)
        return 0;
    start = proc_stat_field(text, PROC_STAT_ENV_START);
    return start ? strtoul(start, NULL, 10) : 0;
}

/* Next string of the environment that is an LD_PRELOAD with flame's library; NULL: none. */
static char *next_list(char *from, const char *end)
{
    for (char *s = from; s < end; s += strlen(s) + 1) {
        const char *at = s + strlen(LIST), *entry;
        size_t len;

        if (!starts_with(s, LIST))
            continue;
        while ((entry = preloadlist_next(&at, &len)))
            if (preloadlist_is(entry, len, LIBRARY))
                return s;
    }
    return NULL;
}

/*
 * Removes flame's library from the list. It is overwritten with blanks, of which loaders accept any
 * number, so the string keeps its length. (A shorter string with NULs after it would be the end of
 * the environment for programs that read /proc/self/environ, as sanitizers do.)
 */
static void take_out(char *list)
{
    const char *at = list + strlen(LIST), *entry;
    size_t len;

    while ((entry = preloadlist_next(&at, &len)))
        if (preloadlist_is(entry, len, LIBRARY))
            memset(list + (entry - list), ' ', len);
}

/* ---- properties of the program ---- */

/* Whether every user can read `path`, in the root of the thread; `all`: whether the tracer can. */
static bool is_readable(pid_t tid, const char *path, size_t len, bool all)
{
    char name[4096];
    struct stat st;
    int root = snprintf(name, sizeof name, "%s", proc_path(tid, "root").s);

    if (path[0] != '/' || len >= sizeof name - (size_t)root)
        return true; /* the loader searches for it, flame does not */
    for (size_t i = 1; i <= len; i++) {
        if (i < len && path[i] != '/')
            continue;
        memcpy(name + root, path, i);
        name[(size_t)root + i] = '\0';
        if (stat(name, &st) < 0 || (!all && !(st.st_mode & (i < len ? S_IXOTH : S_IROTH))))
            return false;
    }
    return true;
}

static bool may_have_it(pid_t tid, const char *list)
{
    const char *at = list + strlen(LIST), *entry;
    struct preloadable_answer answer;
    bool ours;
    size_t len;

    preloadable_judge(proc_path(tid, "exe").s, &preloadable_here, &answer);
    switch (answer.verdict) {
    case PRELOADABLE_MUSL:
    case PRELOADABLE_SANITIZER:
    case PRELOADABLE_LEAK_SANITIZER:
    case PRELOADABLE_MACHINE:
        return false;
    default: /* it loads the library, or ignores it and passes LD_PRELOAD on */
        break;
    }
    ours = task_status(tid, "Uid") == (long)getuid(); /* the real uid, the first of the four */
    while ((entry = preloadlist_next(&at, &len)))
        if (preloadlist_is_sanitizer(entry, len) ||
            (preloadlist_is(entry, len, LIBRARY) && !is_readable(tid, entry, len, ours)))
            return false;
    return true;
}

void preload_strip(pid_t tid)
{
    struct strbuf text = STRBUF_INIT;
    const char *end;
    uintptr_t at;
    char *list;

    read_environment(tid, &text);
    end = text.buf + text.len;
    list = text.len ? next_list(text.buf, end) : NULL;
    at = list && !may_have_it(tid, list) ? environment_at(tid) : 0;
    for (; at && list; list = next_list(list, end)) {
        size_t len = strlen(list);
        struct iovec ours = {list, len};
        struct iovec theirs = {(void *)(at + (uintptr_t)(list - text.buf)), len}; /* NOLINT */

        take_out(list);
        if (process_vm_writev(tid, &ours, 1, &theirs, 1, 0) != (ssize_t)len)
            break;
    }
    strbuf_release(&text);
}
