#define _GNU_SOURCE
#include "common/files/outfile.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/alloc.h"
#include "common/basename.h"
#include "common/error.h"
#include "common/files/tempfile.h"
#include "common/files/termstream.h"
#include "common/procpath.h"
#include "common/strbuf.h"

/* Whether another user may have put that user's file into a directory where all may create files.
 */
static bool may_be_planted(const char *dir, uid_t owner)
{
    struct stat st;

    return owner != geteuid() && stat(dir, &st) == 0 && st.st_mode & S_ISVTX &&
           st.st_mode & (S_IWGRP | S_IWOTH) && st.st_uid != owner;
}

/*
 * Whether `path` is a named pipe of another user in a directory where all may create files. Opening
 * it waits for its creator, or hands that user the output that was meant for a file. The kernel's
 * own rule (fs.protected_fifos) covers only opens that create files. A pipe without a name, such as
 * /dev/stdout may be, lies in no directory.
 */
static bool is_others_pipe(const char *path, const struct stat *st)
{
    char *real = S_ISFIFO(st->st_mode) ? realpath(path, NULL) : NULL;
    bool is = false;

    if (real) {
        strrchr(real, '/')[1] = '\0';
        is = may_be_planted(real, st->st_uid);
    }
    free(real);
    return is;
}

#define LINKS_MOST 16
#define ENDING ".tmpXXXXXX" /* of temporary names */

/* The name of the directory that a path's last part is in, without links; the caller frees it. */
static char *real_directory(const char *path)
{
    const char *slash = strrchr(path, '/');
    char *name = slash ? xmemdup0(path, (size_t)(slash - path) + 1) : xstrdup(".");
    char *real = realpath(name, NULL);

    free(name);
    return real;
}

static bool is_in_proc(const char *dir)
{
    return strncmp(dir, "/proc/", 6) == 0;
}

/*
 * The name that the links of a path's last part lead to. Descriptors in /proc are not followed, and
 * neither are links that another user may have planted: they would have this user replace any file.
 * *dir becomes the name's directory, without links, or NULL. The caller frees both.
 */
static char *follow(const char *path, char **dir)
{
    char target[4096], *name = xstrdup(path);

    *dir = real_directory(name);
    for (int links = 0; links < LINKS_MOST && *dir && !is_in_proc(*dir); links++) {
        struct strbuf next = STRBUF_INIT;
        struct stat st;
        ssize_t n;

        if (lstat(name, &st) < 0 || !S_ISLNK(st.st_mode) || may_be_planted(*dir, st.st_uid) ||
            (n = readlink(name, target, sizeof target - 1)) <= 0)
            break;
        target[n] = '\0';
        strbuf_addf(&next, "%s%s%s", target[0] == '/' ? "" : *dir, target[0] == '/' ? "" : "/",
                    target);
        free(name);
        free(*dir);
        name = strbuf_detach(&next, NULL);
        *dir = real_directory(name);
    }
    return name;
}

/*
 * Whether a file is named by a descriptor that is open, as /dev/stdout names one if output goes to
 * a file. To put another file in the place of that name would replace the link, and what others
 * write to the descriptor would be lost. *own becomes this process's descriptor, or -1: another
 * process's.
 */
static bool is_descriptor(const char *path, int *own)
{
    struct proc_path mine = proc_path(getpid(), "fd");
    char *dir, *name = follow(path, &dir);
    bool is = dir && is_in_proc(dir);

    *own = is && strcmp(dir, mine.s) == 0 ? atoi(base_name(name)) : -1;
    free(dir);
    free(name);
    return is;
}

int outfile_check_special(const char *path)
{
    struct stat st;
    int own;

    if (stat(path, &st) < 0)
        return 0;
    if (S_ISREG(st.st_mode))
        return is_descriptor(path, &own);
    if (is_others_pipe(path, &st))
        return FLAME_OTHERS_PIPE;
    if (S_ISDIR(st.st_mode)) /* writable or not */
        return -EISDIR;
    return access(path, W_OK) ? -errno : 1;
}

/* A descriptor that is open is written to where it is: it may append. */
static FILE *open_special(const char *path)
{
    int own = -1, fd;

    if (!is_descriptor(path, &own) || own < 0)
        return fopen(path, "we");
    fd = fcntl(own, F_DUPFD_CLOEXEC, 3);
    return fd < 0 ? NULL : fdopen(fd, "w");
}

/* The file that a link leads to: that is replaced, and the link stays. The caller frees it. */
static char *without_link(const char *path)
{
    struct stat st;
    char *dir, *real;

    if (stat(path, &st) < 0)
        return xstrdup(path);
    real = follow(path, &dir);
    free(dir);
    return real;
}

/*
 * Makes the temporary file for `real`: beside it, as only there it can be renamed. A name that has
 * no room for the ending is left out. A name that is too long by itself is an error now and not at
 * the rename. Returns a descriptor, or -errno.
 */
static int make_aside(const char *real, struct strbuf *name)
{
    struct stat st;
    int fd;

    strbuf_addf(name, "%s" ENDING, real);
    fd = tempfile_make(name->buf);
    if (fd != -ENAMETOOLONG || (lstat(real, &st) < 0 && errno == ENAMETOOLONG))
        return fd;
    strbuf_clear(name);
    strbuf_add(name, real, (size_t)(base_name(real) - real));
    strbuf_addstr(name, "flame" ENDING);
    return tempfile_make(name->buf);
}

int outfile_open(struct outfile *out, const char *path)
{
    struct strbuf name = STRBUF_INIT;
    char *real;
    mode_t mask;
    int fd, err;

    *out = (struct outfile){0};
    if (!path || strcmp(path, "-") == 0) {
        out->f = termstream_open(stdout);
        return 0;
    }
    err = outfile_check_special(path);
    if (err < 0)
        return err;
    if (err) {
        out->f = open_special(path);
        if (!out->f)
            return -errno;
        out->f = termstream_open(out->f);
        out->path = xstrdup(path);
        return 0;
    }
    real = without_link(path);
    fd = make_aside(real, &name);
    if (fd < 0) {
        strbuf_release(&name);
        free(real);
        return fd;
    }
    /* tempfile_make gives 0600; a finished picture has the mode any other file gets. */
    mask = umask(0);
    umask(mask);
    if (fchmod(fd, 0666 & ~mask) < 0 || !(out->f = fdopen(fd, "w"))) {
        err = -errno;
        close(fd);
        unlink(name.buf);
        tempfile_forget(name.buf);
        strbuf_release(&name);
        free(real);
        return err;
    }
    out->path = real;
    out->aside = strbuf_detach(&name, NULL);
    return 0;
}

static void forget(struct outfile *out)
{
    if (out->aside)
        tempfile_forget(out->aside);
    free(out->path);
    free(out->aside);
    *out = (struct outfile){0};
}

int outfile_commit(struct outfile *out)
{
    int err = 0;

    if (ferror(out->f) | fflush(out->f))
        err = errno ? -errno : -EIO;
    if (out->f != stdout && fclose(out->f) != 0 && !err)
        err = -errno;
    if (out->aside) {
        if (!err && rename(out->aside, out->path) < 0)
            err = -errno;
        if (err)
            unlink(out->aside);
    }
    forget(out);
    return err;
}

void outfile_abort(struct outfile *out)
{
    if (!out->f)
        return;
    if (out->f != stdout)
        fclose(out->f);
    if (out->aside)
        unlink(out->aside);
    forget(out);
}

/* Known endings of more than five letters: the long names of render's back ends, and the names of
 * folded text. */
static bool is_long_ending(const char *word)
{
    static const char *const known[] = {
        "callgrind", "chrome",   "collapsed",      "findings", "firefox",    "folded", "grafana",
        "massif",    "perfetto", "perfetto-trace", "pftrace",  "speedscope", "stacks"};

    for (size_t i = 0; i < ARRAY_LEN(known); i++)
        if (strcmp(word, known[i]) == 0)
            return true;
    return false;
}

const char *outfile_ending(const char *path)
{
    const char *name = base_name(path), *dot = strrchr(name, '.');
    size_t len = dot && dot > name ? strlen(dot + 1) : 0;

    if (len == 0 || !isalpha((unsigned char)dot[1]))
        return NULL;
    if (len > 5)
        return is_long_ending(dot + 1) ? dot + 1 : NULL;
    for (size_t i = 1; i <= len; i++)
        if (!isalnum((unsigned char)dot[i]))
            return NULL;
    return dot + 1;
}
