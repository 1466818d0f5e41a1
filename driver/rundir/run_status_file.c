/*
 * Rejected: a read-only mapping of the driver's words, in a page of their own. A stray store would
 * then end a program that runs without flame, and a program that writes there on purpose would open
 * the file instead.
 */
#define _GNU_SOURCE
#include "driver/rundir/run_status_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/alloc.h"
#include "common/files/plainfile.h"
#include "unwind/sharedrules.h"

/* 0 or -errno. */
static int write_whole(int fd, const void *data, size_t size)
{
    size_t at = 0;

    while (at < size) {
        ssize_t n = pwrite(fd, (const char *)data + at, size - at, (off_t)at);

        if (n < 0 && errno != EINTR)
            return -errno;
        at += n < 0 ? 0 : (size_t)n;
    }
    return 0;
}

/* ---- writing ---- */

int run_status_file_make(struct run_status_file *f, const char *path, uint64_t disk)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600), err = 0;

    *f = (struct run_status_file){.fd = -1};
    if (fd < 0)
        return -errno;
    f->own = xcalloc(1, sizeof *f->own); /* more than a small stack has room for */
    /* The descriptor that holds the lock is read-only, so that flame does not count as a writer
     * of the file. */
    f->fd = plainfile_open(path, O_RDONLY | O_NOFOLLOW);
    if (f->fd < 0)
        err = f->fd;
    memcpy(f->own->magic, RUN_STATUS_MAGIC, sizeof f->own->magic);
    f->own->disk_limit = disk;
    f->own->locked = !err && flock(f->fd, LOCK_EX) == 0;
    /* All of the file is written, so that no process finds a hole for which the disk has no
     * room. */
    if (!err)
        err = write_whole(fd, f->own, sizeof *f->own);
    close(fd);
    if (err) {
        unlink(path);
        run_status_file_close(f);
        return err;
    }
    f->path = xstrdup(path);
    return 0;
}

void run_status_file_close(struct run_status_file *f)
{
    if (f->fd >= 0)
        close(f->fd);
    free(f->path);
    free(f->own);
    *f = (struct run_status_file){.fd = -1};
}

static bool is_same_file(int a, int b)
{
    struct stat x, y;

    return fstat(a, &x) == 0 && fstat(b, &y) == 0 && x.st_dev == y.st_dev && x.st_ino == y.st_ino;
}

/* Opens the file by its name, if it is still the same file; or -errno. */
static int open_again(const struct run_status_file *f, int how)
{
    int fd = f->path ? plainfile_open(f->path, how | O_NOFOLLOW) : -ENOENT;

    if (fd < 0 || is_same_file(fd, f->fd))
        return fd;
    close(fd);
    return -ESTALE;
}

/* The driver's words in the file. */
#define WORD(member)                                                                               \
    {                                                                                              \
#member, offsetof(struct run_status, member), sizeof((struct run_status *)0)->member       \
    }

static const struct {
    const char *name;
    size_t at, size;
} words[] = {
    WORD(magic), WORD(over),       WORD(spares_made),     WORD(locked),
    WORD(rules), WORD(disk_limit), WORD(disk_given_back),
};

static bool read_at(const struct run_status_file *f, void *to, size_t size, size_t at)
{
    return f->fd >= 0 && pread(f->fd, to, size, (off_t)at) == (ssize_t)size;
}

/* Notes whether the word at `at` of the file is no longer what the driver wrote last. */
static void look_before(struct run_status_file *f, size_t at, size_t size)
{
    uint64_t found;

    for (size_t i = 0; i < ARRAY_LEN(words); i++)
        if (words[i].at == at && read_at(f, &found, size, at) &&
            memcmp(&found, (const char *)f->own + at, size) != 0)
            f->lost |= 1u << i;
}

/* Writes a new value of one of the driver's words, `word` in f->own, of at most eight bytes; after
 * an error the word is as before. 0 or -errno. */
static int put(struct run_status_file *f, void *word, const void *value, size_t size)
{
    size_t at = (size_t)((const char *)word - (const char *)f->own);
    int fd = open_again(f, O_WRONLY), err = 0;

    if (fd < 0)
        return fd;
    look_before(f, at, size);
    if (pwrite(fd, value, size, (off_t)at) < 0)
        err = -errno;
    else
        memcpy(word, value, size);
    close(fd);
    return err;
}

void run_status_file_over(struct run_status_file *f)
{
    const uint32_t over = 1;
    int err;

    if (!f->own)
        return;
    err = put(f, &f->own->over, &over, sizeof over);
    if (err && err != -ENOENT)
        unlink(f->path); /* a removed file ends the recording as well */
}

void run_status_file_spares(struct run_status_file *f, uint32_t made)
{
    if (f->own)
        put(f, &f->own->spares_made, &made, sizeof made);
}

void run_status_file_given_back(struct run_status_file *f, uint64_t bytes)
{
    if (f->own)
        put(f, &f->own->disk_given_back, &bytes, sizeof bytes);
}

void run_status_file_share_rules(struct run_status_file *f, const char *rules)
{
    const uint32_t there = 1;
    void *none;
    int fd, err;

    if (!f->own)
        return;
    fd = open(rules, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (fd < 0)
        return;
    none = xcalloc(1, SHAREDRULES_SIZE);
    err = write_whole(fd, none, SHAREDRULES_SIZE);
    free(none);
    close(fd);
    if (err || put(f, &f->own->rules, &there, sizeof there) < 0)
        unlink(rules);
}

/* ---- reading ---- */

uint32_t run_status_file_spares_taken(const struct run_status_file *f)
{
    uint32_t taken;

    return read_at(f, &taken, sizeof taken, offsetof(struct run_status, spares_taken)) ? taken : 0;
}

static void add_wrong(struct strbuf *wrong, const char *what)
{
    strbuf_addf(wrong, "%s%s", wrong->len ? ", " : "", what);
}

static void compare(const struct run_status_file *f, const struct run_status *now,
                    struct strbuf *wrong)
{
    for (size_t i = 0; i < ARRAY_LEN(words); i++)
        if (f->lost >> i & 1 || memcmp((const char *)now + words[i].at,
                                       (const char *)f->own + words[i].at, words[i].size) != 0)
            add_wrong(wrong, words[i].name);
}

/* Whether recorders cannot have written these entries. A slot is counted before an entry is written
 * to it, and `used` was read after the entries: so no valid entry is behind `used`. */
static bool is_impossible(const struct run_status *n, uint32_t used, uint64_t most)
{
    for (uint32_t i = used; i < RUN_STATUS_MAX; i++)
        if (n->notes[i].why != UNRECORDED_NONE)
            return true;
    for (uint32_t i = 0; i < RUN_STATUS_MAX; i++)
        if (n->notes[i].why >= UNRECORDED_REASONS)
            return true;
    return used > most;
}

void run_status_file_read(const struct run_status_file *f, uint64_t most, struct run_status *to,
                          struct strbuf *wrong)
{
    uint32_t used = 0;
    int fd;

    memset(to, 0, sizeof *to);
    if (f->fd < 0)
        return;
    /* Programs that began after the file was removed were not recorded. */
    fd = open_again(f, O_RDONLY);
    if (fd < 0)
        add_wrong(wrong, "removed");
    else
        close(fd);
    if (!read_at(f, to, sizeof *to, 0)) {
        add_wrong(wrong, "cut short");
        memset(to, 0, sizeof *to);
        return;
    }
    compare(f, to, wrong);
    if (to->disk_full_ns && !f->own->disk_limit) {
        add_wrong(wrong, "disk_full_ns");
        to->disk_full_ns = 0;
    }
    if (!read_at(f, &used, sizeof used, offsetof(struct run_status, used)) ||
        is_impossible(to, used, most)) {
        add_wrong(wrong, "used");
        to->used = to->used > most ? 0 : to->used;
    }
}
