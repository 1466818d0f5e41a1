/*
 * rundir.c: a temporary directory that is removed however the run ends.
 *
 * The signal handlers may call nothing that allocates or locks, so they read the directory with
 * system calls. A driver that SIGKILL ends leaves its directory behind; the next run removes it.
 */
#define _GNU_SOURCE
#include "driver/rundir/rundir.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/error.h"
#include "common/alloc.h"
#include "common/basename.h"
#include "common/files/tempfile.h"
#include "common/str_starts.h"
#include "common/strbuf.h"
#include "common/trace/trace_moments.h"
#include "driver/rundir/output_link.h"
#include "driver/rundir/stale_rundirs.h"
#include "driver/rundir/remove_rundir.h"

#define ENDING ".flame"
#define SPARE "spare."
#define LIBRARIES "libraries"
#define MUSL "/musl" /* see launch_choose_shim */

/* Commands that make directories called flame-COMMAND.XXXXXX. No other command makes one. */
static const char *const makers[] = {"run", "mem", "leak", "off", "live", "doctor"};
#define RANDOM "XXXXXX"

/* Files beside the traces, and prefixes of further names. */
static const char *const files[] = {RUNDIR_NOTES,     RUNDIR_FOLDED, RUNDIR_WAITS, RUNDIR_SITES,
                                    RUN_STATUS_RULES, RUNDIR_OUTPUT, RUNDIR_RESULT};
static const char *const beginnings[] = {LIBRARIES, SPARE, RUNDIR_LOOK, RUNDIR_DOCTOR};

/* SIGPIPE: the reader of flame's output has ended. */
static const int ending_signals[] = {SIGINT, SIGTERM, SIGHUP, SIGPIPE};

/* The directory that the handler removes (NULL: none), and the process whose handler it is.
 * Forked children inherit the handler, and must not remove the directory. */
static const char *volatile to_remove;
static volatile pid_t remover;

static bool plain(const char *path)
{
    /* ':' ends an option and a preload entry, '%' and '$' are replaced in them,
     * blanks end a preload entry. */
    return strpbrk(path, ":%$ \t\n") == NULL;
}

/* ---- removing ---- */

static void remove_and_die(int sig)
{
    const char *dir = to_remove;

    to_remove = NULL;
    if (dir && remover == getpid())
        remove_rundir_files(dir, NULL, 0);
    tempfile_remove_all();
    signal(sig, SIG_DFL);
    raise(sig);
}

static void remove_on_signals(const struct rundir *s)
{
    remover = getpid();
    to_remove = s->path;
    for (size_t i = 0; i < ARRAY_LEN(ending_signals); i++) {
        struct sigaction old, sa = {.sa_handler = remove_and_die};

        if (sigaction(ending_signals[i], NULL, &old) == 0 && old.sa_handler != SIG_IGN)
            sigaction(ending_signals[i], &sa, NULL);
    }
}

/* ---- making ---- */

/* The name of the command for a directory. An unknown command gets the first one, so that
 * rundir_is_name() knows every name that is made. */
static const char *maker_of(const char *me)
{
    for (size_t i = 0; i < ARRAY_LEN(makers); i++)
        if (strcmp(me, makers[i]) == 0)
            return me;
    return makers[0];
}

bool rundir_is_name(const char *name)
{
    for (size_t i = 0; i < ARRAY_LEN(makers); i++) {
        struct strbuf begin = STRBUF_INIT;
        bool is;

        strbuf_addf(&begin, "flame-%s.", makers[i]);
        is = starts_with(name, begin.buf) && strlen(name) == begin.len + strlen(RANDOM);
        strbuf_release(&begin);
        if (is)
            return true;
    }
    return false;
}

/* Makes a directory in `parent`, which is absolute. 0 or -errno. */
static int make_dir(struct rundir *s, const char *me, const char *parent)
{
    struct strbuf dir = STRBUF_INIT;

    sigset_t ending, before;
    int err = 0;

    strbuf_addf(&dir, "%s/flame-%s." RANDOM, strcmp(parent, "/") == 0 ? "" : parent, maker_of(me));
    sigemptyset(&ending);
    for (size_t i = 0; i < ARRAY_LEN(ending_signals); i++)
        sigaddset(&ending, ending_signals[i]);
    sigprocmask(SIG_BLOCK, &ending, &before);
    if (mkdtemp(dir.buf)) {
        s->path = strbuf_detach(&dir, NULL);
        remove_on_signals(s);
    } else {
        err = -errno;
    }
    sigprocmask(SIG_SETMASK, &before, NULL);
    strbuf_release(&dir);
    return err;
}

/* Creates the status file. It is the first file in the directory: if the disk has no room for it,
 * there is none for a trace. If it cannot be created for another reason (such as a limit), the run
 * continues and reports less. 0 or -errno. */
static int make_notes(struct rundir *s)
{
    struct strbuf name = STRBUF_INIT;
    int err;

    strbuf_addf(&name, "%s/" RUNDIR_NOTES, s->path);
    err = run_status_file_make(&s->notes, name.buf, s->disk);
    strbuf_release(&name);
    return err == -ENOSPC || err == -EDQUOT ? err : 0;
}

static void unmake_dir(struct rundir *s)
{
    to_remove = NULL;
    rmdir(s->path);
    free(s->path);
    s->path = NULL;
}

/* Creates a directory with its status file in `parent`. 0 or -errno. */
static int make_in(struct rundir *s, const char *me, const char *parent)
{
    char *real = realpath(parent, NULL);
    int err;

    if (!real)
        return -errno;
    if (plain(real)) {
        stale_rundirs_remove(real);
        err = make_dir(s, me, real);
    } else {
        err = -EINVAL;
    }
    free(real);
    if (err)
        return err;
    err = make_notes(s);
    if (err)
        unmake_dir(s);
    return err;
}

static void name_files(struct rundir *s)
{
    struct strbuf name = STRBUF_INIT;

    strbuf_addf(&name, "%s/%%e.%%p.%%n" ENDING, s->path);
    s->pattern = strbuf_detach(&name, NULL);
    strbuf_addf(&name, "%s/" RUN_STATUS_RULES, s->path);
    s->rules = strbuf_detach(&name, NULL);
    strbuf_addf(&name, "%s/" RUNDIR_WAITS, s->path);
    s->waits = strbuf_detach(&name, NULL);
    for (size_t i = 0; i < RUN_STATUS_SPARES; i++) {
        strbuf_addf(&name, "%s/" SPARE "%zu", s->path, i);
        s->spares[i] = strbuf_detach(&name, NULL);
    }
}

static bool ends_with(const char *name, const char *ending)
{
    size_t len = strlen(name), end = strlen(ending);

    return len > end && strcmp(name + len - end, ending) == 0;
}

/* Whether the file has moments of a trace, or is such a file that is being rewritten. */
static bool is_of_moments(const char *name)
{
    return ends_with(name, ENDING TRACE_MOMENTS_ENDING) ||
           ends_with(name, ENDING TRACE_MOMENTS_ENDING ".new");
}

bool rundir_makes(const char *name)
{
    for (size_t i = 0; i < ARRAY_LEN(files); i++)
        if (strcmp(name, files[i]) == 0)
            return true;
    for (size_t i = 0; i < ARRAY_LEN(beginnings); i++)
        if (starts_with(name, beginnings[i]))
            return true;
    return is_of_moments(name);
}

int rundir_open(struct rundir *s, const char *me, const char *beside, uint64_t disk)
{
    const char *tmp = getenv("TMPDIR");
    const char *slash = strrchr(beside, '/');
    struct strbuf near = STRBUF_INIT;
    int err;

    *s = (struct rundir){.disk = disk, .notes.fd = -1};
    if (!tmp || !*tmp)
        tmp = "/tmp";
    if (slash)
        strbuf_add(&near, beside, slash == beside ? 1 : (size_t)(slash - beside));
    else
        strbuf_addch(&near, '.');
    err = make_in(s, me, tmp);
    if (err && make_in(s, me, near.buf) < 0 && make_in(s, me, "/tmp") < 0)
        flame_error(FLAME_USAGE,
                    "%s: no directory for the recording can be made there: %s; set TMPDIR to one "
                    "with room, whose name has no ':', '%%', '$' or blank",
                    tmp, strerror(-err));
    strbuf_release(&near);
    if (!s->path)
        return FLAME_USAGE;
    name_files(s);
    output_link_make(s->path, beside);
    return 0;
}

/* A link to `target` in the directory of the run: a new one, or one that leads there already. NULL,
 * with errno: no link. */
static char *link_to(const struct rundir *s, const char *target)
{
    static const char *const names[] = {LIBRARIES, LIBRARIES ".1"};
    struct strbuf link = STRBUF_INIT;
    bool made = false;

    for (size_t i = 0; i < ARRAY_LEN(names) && !made; i++) {
        char there[4096];
        ssize_t n;

        strbuf_release(&link);
        strbuf_addf(&link, "%s/%s", s->path, names[i]);
        made = symlink(target, link.buf) == 0;
        if (made || errno != EEXIST)
            break;
        n = readlink(link.buf, there, sizeof there);
        made = n >= 0 && (size_t)n == strlen(target) && memcmp(there, target, (size_t)n) == 0;
    }
    if (!made)
        strbuf_release(&link);
    return made ? strbuf_detach(&link, NULL) : NULL;
}

char *rundir_preloadable(struct rundir *s, const char *path)
{
    struct strbuf named = STRBUF_INIT, folder = STRBUF_INIT;
    const char *rest = strrchr(path, '/');
    size_t musl = strlen(MUSL);
    char *link;

    if (plain(path))
        return xstrdup(path);
    if ((size_t)(rest - path) >= musl && memcmp(rest - musl, MUSL, musl) == 0)
        rest -= musl;
    strbuf_add(&folder, path, (size_t)(rest - path));
    if (!folder.len)
        strbuf_addch(&folder, '/');
    link = link_to(s, folder.buf);
    if (link)
        strbuf_addf(&named, "%s%s", link, rest);
    else
        flame_error(FLAME_FAILED, "%s: no link to it can be made in %s: %s", folder.buf, s->path,
                    strerror(errno));
    strbuf_release(&folder);
    if (!link)
        return NULL;
    free(link);
    return strbuf_detach(&named, NULL);
}

struct found {
    char *path;
    struct timespec when;
};

struct found_list {
    struct found *found;
    size_t n, room;
};

/* Sorts by the time of birth. A trace's file is made when its process starts, and written
 * through a mapping later. */
static int by_age(const void *a, const void *b)
{
    const struct found *x = a, *y = b;

    if (x->when.tv_sec != y->when.tv_sec)
        return x->when.tv_sec < y->when.tv_sec ? -1 : 1;
    if (x->when.tv_nsec != y->when.tv_nsec)
        return x->when.tv_nsec < y->when.tv_nsec ? -1 : 1;
    return strcmp(x->path, y->path);
}

static struct timespec born(const char *path)
{
    struct statx stx;

    if (statx(AT_FDCWD, path, AT_SYMLINK_NOFOLLOW, STATX_BTIME | STATX_CTIME, &stx) < 0)
        return (struct timespec){0};
    if (stx.stx_mask & STATX_BTIME)
        return (struct timespec){stx.stx_btime.tv_sec, stx.stx_btime.tv_nsec};
    return (struct timespec){stx.stx_ctime.tv_sec, stx.stx_ctime.tv_nsec};
}

bool rundir_is_trace(const char *name)
{
    return ends_with(name, ENDING) && strcmp(name, RUNDIR_WAITS) != 0;
}

int rundir_each_trace(const char *dir, void (*found)(const char *path, void *arg), void *arg)
{
    DIR *d = opendir(dir);
    struct dirent *entry;

    if (!d)
        return -errno;
    while ((entry = readdir(d)))
        if (rundir_is_trace(entry->d_name)) {
            struct strbuf path = STRBUF_INIT;

            strbuf_addf(&path, "%s/%s", dir, entry->d_name);
            found(path.buf, arg);
            strbuf_release(&path);
        }
    closedir(d);
    return 0;
}

static void add_found(const char *path, void *arg)
{
    struct found_list *list = arg;

    GROW(list->found, list->n, list->room);
    list->found[list->n++] = (struct found){xstrdup(path), born(path)};
}

int rundir_collect(struct rundir *s)
{
    struct found_list list = {.found = NULL};
    int err = rundir_each_trace(s->path, add_found, &list);

    if (err)
        return flame_error(FLAME_FAILED, "%s: the recording is gone: %s", s->path, strerror(-err));
    if (list.n)
        qsort(list.found, list.n, sizeof *list.found, by_age);
    s->traces = xcalloc(list.n, sizeof *s->traces);
    for (size_t i = 0; i < list.n; i++)
        s->traces[i] = list.found[i].path;
    s->ntraces = list.n;
    free(list.found);
    return 0;
}

void rundir_keep(struct rundir *s)
{
    s->keep = true;
    to_remove = NULL;
    /* A directory with a status file would look like one of a killed run. */
    if (s->notes.path)
        unlink(s->notes.path);
    unlink(s->rules);
}

bool rundir_keep_file(struct rundir *s, const char *path)
{
    struct stat st;

    if (lstat(path, &st) != 0 || !S_ISREG(st.st_mode))
        return false;
    GROW(s->kept, s->nkept, s->kept_room);
    s->kept[s->nkept++] = xstrdup(base_name(path));
    return true;
}

char *rundir_program_of(const char *path, uint32_t *pid)
{
    const char *name = base_name(path), *end = name + strlen(name), *at;
    unsigned long number;

    *pid = 0;
    if (ends_with(name, ENDING))
        end -= strlen(ENDING);
    for (at = end; at > name && at[-1] != '.';)
        at--;
    for (at = at > name ? at - 1 : at; at > name && at[-1] != '.';)
        at--;
    if (at == name)
        return xmemdup0(name, (size_t)(end - name));
    number = strtoul(at, NULL, 10);
    *pid = number <= INT32_MAX ? (uint32_t)number : 0;
    return xmemdup0(name, (size_t)(at - 1 - name));
}

void rundir_close(struct rundir *s)
{
    if (s->path && !s->keep)
        remove_rundir_files(s->path, s->kept, s->nkept);
    to_remove = NULL;
    if (s->path)
        run_status_file_close(&s->notes);
    for (size_t i = 0; i < s->ntraces; i++)
        free(s->traces[i]);
    free(s->traces);
    for (size_t i = 0; i < s->nkept; i++)
        free(s->kept[i]);
    free(s->kept);
    for (size_t i = 0; i < RUN_STATUS_SPARES; i++)
        free(s->spares[i]);
    free(s->rules);
    free(s->waits);
    free(s->pattern);
    free(s->path);
    *s = (struct rundir){0};
}
