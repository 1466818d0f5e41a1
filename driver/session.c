/*
 * session.c: a temporary directory that goes away in every way the run can end.
 *
 * The signal handlers may call nothing that allocates, so what they unlink is
 * listed before they are installed. A driver killed with SIGKILL leaves the
 * directory behind, with traces that can still be read.
 */
#define _GNU_SOURCE
#include "driver/session.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/error.h"
#include "common/strbuf.h"

#define ENDING ".flame"

static const int ending_signals[] = {SIGINT, SIGTERM, SIGHUP};

/* What the handler removes; NULL when there is nothing. */
static const struct session *volatile to_remove;

static bool plain(const char *path)
{
    /* ':' ends an option and a preload entry, '%' and '$' are replaced in them,
     * blanks end a preload entry. */
    return strpbrk(path, ":%$ \t\n") == NULL;
}

/* Makes a directory in `parent`. 0 or -errno. */
static int make_in(struct session *s, const char *me, const char *parent)
{
    char *real = realpath(parent, NULL);
    struct strbuf dir = STRBUF_INIT;
    int err = 0;

    if (!real)
        return -errno;
    if (plain(real)) {
        strbuf_addf(&dir, "%s/flame-%s.XXXXXX", strcmp(real, "/") == 0 ? "" : real, me);
        if (mkdtemp(dir.buf))
            s->dir = strbuf_detach(&dir, NULL);
        else
            err = -errno;
    } else {
        err = -EINVAL;
    }
    strbuf_release(&dir);
    free(real);
    return err;
}

int session_open(struct session *s, const char *me, const char *beside)
{
    const char *tmp = getenv("TMPDIR");
    const char *slash = strrchr(beside, '/');
    struct strbuf near = STRBUF_INIT, pattern = STRBUF_INIT;
    int err;

    *s = (struct session){0};
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
                    "whose name has no ':', '%%', '$' or blank",
                    tmp, strerror(-err));
    strbuf_release(&near);
    if (!s->dir)
        return FLAME_USAGE;
    strbuf_addf(&pattern, "%s/%%e.%%p.%%n" ENDING, s->dir);
    s->pattern = strbuf_detach(&pattern, NULL);
    return 0;
}

const char *session_preloadable(struct session *s, const char *path)
{
    struct strbuf link = STRBUF_INIT;

    if (plain(path))
        return path;
    strbuf_addf(&link, "%s/libflamemem.so", s->dir);
    s->link = strbuf_detach(&link, NULL);
    if (symlink(path, s->link) < 0) {
        flame_error(FLAME_FAILED, "%s: %s", s->link, strerror(errno));
        return NULL;
    }
    return s->link;
}

static void remove_and_die(int sig)
{
    const struct session *s = to_remove;

    to_remove = NULL;
    if (s) {
        for (size_t i = 0; i < s->ntraces; i++)
            unlink(s->traces[i]);
        if (s->link)
            unlink(s->link);
        rmdir(s->dir);
    }
    signal(sig, SIG_DFL);
    raise(sig);
}

struct found {
    char *path;
    struct timespec when;
};

/* The file is made when a process starts, written through a mapping later. */
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

int session_collect(struct session *s)
{
    struct found *found = NULL;
    size_t n = 0;
    struct dirent *d;
    DIR *dir = opendir(s->dir);

    if (!dir)
        return flame_error(FLAME_FAILED, "%s: the recording is gone: %s", s->dir, strerror(errno));
    while ((d = readdir(dir))) {
        size_t len = strlen(d->d_name);
        struct strbuf path = STRBUF_INIT;

        if (len <= strlen(ENDING) || strcmp(d->d_name + len - strlen(ENDING), ENDING) != 0)
            continue;
        strbuf_addf(&path, "%s/%s", s->dir, d->d_name);
        found = xreallocarray(found, n + 1, sizeof *found);
        found[n].when = born(path.buf);
        found[n++].path = strbuf_detach(&path, NULL);
    }
    closedir(dir);
    if (n)
        qsort(found, n, sizeof *found, by_age);
    s->traces = xcalloc(n, sizeof *s->traces);
    for (size_t i = 0; i < n; i++)
        s->traces[i] = found[i].path;
    s->ntraces = n;
    free(found);

    to_remove = s;
    for (size_t i = 0; i < ARRAY_LEN(ending_signals); i++) {
        struct sigaction old, sa = {.sa_handler = remove_and_die};

        if (sigaction(ending_signals[i], NULL, &old) == 0 && old.sa_handler != SIG_IGN)
            sigaction(ending_signals[i], &sa, NULL);
    }
    return 0;
}

/* Everything: a process that was killed while it made its file leaves one with
 * another ending. */
static void empty(const char *path)
{
    struct dirent *d;
    DIR *dir = opendir(path);

    if (!dir)
        return;
    while ((d = readdir(dir)))
        if (strcmp(d->d_name, ".") != 0 && strcmp(d->d_name, "..") != 0)
            unlinkat(dirfd(dir), d->d_name, 0);
    closedir(dir);
}

void session_close(struct session *s)
{
    if (s->dir && !s->keep) {
        empty(s->dir);
        rmdir(s->dir);
    }
    to_remove = NULL;
    for (size_t i = 0; i < s->ntraces; i++)
        free(s->traces[i]);
    free(s->traces);
    free(s->pattern);
    free(s->link);
    free(s->dir);
    *s = (struct session){0};
}
