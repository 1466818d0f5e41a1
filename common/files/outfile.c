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
#include "common/files/termstream.h"
#include "common/strbuf.h"

/*
 * Whether `path` is a named pipe of another user in a directory where all may create files. Opening
 * it waits for its creator, or hands that user the output that was meant for a file. The kernel's
 * own rule (fs.protected_fifos) covers only opens that create files. A pipe without a name, such as
 * /dev/stdout may be, lies in no directory.
 */
static bool is_others_pipe(const char *path, const struct stat *st)
{
    char *real = S_ISFIFO(st->st_mode) && st->st_uid != geteuid() ? realpath(path, NULL) : NULL;
    struct stat dir;
    bool is = false;

    if (real) {
        strrchr(real, '/')[1] = '\0';
        is = stat(real, &dir) == 0 && dir.st_mode & S_ISVTX && dir.st_mode & (S_IWGRP | S_IWOTH) &&
             dir.st_uid != st->st_uid;
    }
    free(real);
    return is;
}

int outfile_check_special(const char *path)
{
    struct stat st;

    if (stat(path, &st) < 0 || S_ISREG(st.st_mode))
        return 0;
    if (is_others_pipe(path, &st))
        return FLAME_OTHERS_PIPE;
    if (S_ISDIR(st.st_mode)) /* writable or not */
        return -EISDIR;
    return access(path, W_OK) ? -errno : 1;
}

int outfile_open(struct outfile *out, const char *path)
{
    struct strbuf name = STRBUF_INIT;
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
        out->f = fopen(path, "we");
        if (!out->f)
            return -errno;
        out->f = termstream_open(out->f);
        out->path = xstrdup(path);
        return 0;
    }
    strbuf_addf(&name, "%s.tmpXXXXXX", path);
    fd = mkostemp(name.buf, O_CLOEXEC);
    if (fd < 0) {
        err = -errno;
        strbuf_release(&name);
        return err;
    }
    /* mkostemp gives 0600; a finished picture has the mode any other file gets. */
    mask = umask(0);
    umask(mask);
    if (fchmod(fd, 0666 & ~mask) < 0 || !(out->f = fdopen(fd, "w"))) {
        err = -errno;
        close(fd);
        unlink(name.buf);
        strbuf_release(&name);
        return err;
    }
    out->path = xstrdup(path);
    out->aside = strbuf_detach(&name, NULL);
    return 0;
}

static void forget(struct outfile *out)
{
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
