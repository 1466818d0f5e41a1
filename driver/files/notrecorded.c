#define _GNU_SOURCE
#include "driver/files/notrecorded.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/file.h>
#include <unistd.h>

#include "common/alloc.h"
#include "render/text/value.h"
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

/* All of it, so that no process meets a hole the disk has no room for. 0 or -errno. */
static int write_notes(int fd, int reader, uint64_t disk)
{
    struct runnotes *notes = xcalloc(1, sizeof *notes);
    int err;

    memcpy(notes->magic, RUNNOTES_MAGIC, sizeof notes->magic);
    notes->disk_limit = disk;
    notes->locked = flock(reader, LOCK_EX) == 0;
    err = write_whole(fd, notes, sizeof *notes);
    free(notes);
    return err;
}

int notrecorded_make(const char *path, uint64_t disk)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600), reader, err;

    if (fd < 0)
        return -errno;
    /* What holds the lock is open for reading: it is not to look like a writer. */
    reader = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    err = reader < 0 ? -errno : write_notes(fd, reader, disk);
    close(fd);
    if (!err)
        return reader;
    if (reader >= 0)
        close(reader);
    unlink(path);
    return err;
}

/* 0 or -errno. */
static int put(const char *path, const void *number, size_t size, size_t at)
{
    int fd = open(path, O_WRONLY | O_CLOEXEC | O_NOFOLLOW), err = 0;

    if (fd < 0)
        return -errno;
    if (pwrite(fd, number, size, (off_t)at) < 0)
        err = -errno;
    close(fd);
    return err;
}

void notrecorded_over(const char *path)
{
    uint32_t over = 1;
    int err = put(path, &over, sizeof over, offsetof(struct runnotes, over));

    if (err && err != -ENOENT)
        unlink(path); /* gone is over as well */
}

void notrecorded_spares(const char *path, uint32_t made)
{
    put(path, &made, sizeof made, offsetof(struct runnotes, spares_made));
}

uint32_t notrecorded_spares_taken(const char *path)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    uint32_t taken = 0;

    if (fd < 0)
        return 0;
    if (pread(fd, &taken, sizeof taken, offsetof(struct runnotes, spares_taken)) !=
        (ssize_t)sizeof taken)
        taken = 0;
    close(fd);
    return taken;
}

void notrecorded_given_back(const char *path, uint64_t bytes)
{
    put(path, &bytes, sizeof bytes, offsetof(struct runnotes, disk_given_back));
}

/* All of it, as write_notes does. */
void notrecorded_share_rules(const char *path, const char *rules)
{
    int fd = open(rules, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600), err;
    uint32_t there = 1;
    void *none;

    if (fd < 0)
        return;
    none = xcalloc(1, SHAREDRULES_SIZE);
    err = write_whole(fd, none, SHAREDRULES_SIZE);
    free(none);
    close(fd);
    if (err || put(path, &there, sizeof there, offsetof(struct runnotes, rules)) < 0)
        unlink(rules);
}

/* ---- reading ---- */

static int by_number(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

    return (x > y) - (x < y);
}

static int by_times(const void *pa, const void *pb)
{
    const struct notrecorded_program *a = pa, *b = pb;

    if (a->times != b->times)
        return a->times < b->times ? 1 : -1;
    return strcmp(a->name, b->name);
}

static void add_program(struct notrecorded *n, const struct runnote *note)
{
    struct notrecorded_program *p;
    char name[sizeof p->name] = "";

    memcpy(name, note->name, strnlen(note->name, sizeof note->name));
    if (note->pid)
        n->pids[n->npids++] = note->pid;
    for (size_t i = 0; i < n->nprograms; i++) {
        p = &n->programs[i];
        if (p->why == note->why && p->err == note->err && strcmp(p->name, name) == 0) {
            p->times++;
            return;
        }
    }
    n->programs = xreallocarray(n->programs, n->nprograms + 1, sizeof *n->programs);
    p = &n->programs[n->nprograms++];
    *p = (struct notrecorded_program){.why = note->why, .err = note->err, .times = 1};
    memcpy(p->name, name, sizeof name);
}

/* Sorts them and leaves each once. */
static size_t distinct(uint32_t *pids, size_t n)
{
    size_t kept = 0;

    if (n)
        qsort(pids, n, sizeof *pids, by_number);
    for (size_t i = 0; i < n; i++)
        if (!kept || pids[kept - 1] != pids[i])
            pids[kept++] = pids[i];
    return kept;
}

void notrecorded_read(struct notrecorded *n, const char *path)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    struct runnotes *notes = xcalloc(1, sizeof *notes);
    bool whole = fd >= 0 && pread(fd, notes, sizeof *notes, 0) == (ssize_t)sizeof *notes &&
                 memcmp(notes->magic, RUNNOTES_MAGIC, sizeof notes->magic) == 0;

    *n = (struct notrecorded){0};
    if (fd >= 0)
        close(fd);
    n->pids = xcalloc(RUNNOTES_MAX, sizeof *n->pids);
    for (size_t i = 0; whole && i < notes->used && i < RUNNOTES_MAX; i++) {
        const struct runnote *note = &notes->notes[i];

        if (note->why == RUNNOTE_NONE || note->why >= RUNNOTE_REASONS)
            continue;
        add_program(n, note);
    }
    if (whole)
        n->full_ns = notes->disk_full_ns;
    if (whole && notes->used > RUNNOTES_MAX)
        n->unnamed = notes->used - RUNNOTES_MAX;
    notrecorded_sort(n);
    free(notes);
}

void notrecorded_add_process(struct notrecorded *n, const char *name, uint32_t pid,
                             enum runnote_why why)
{
    struct runnote note = {.pid = pid, .why = (uint16_t)why};

    memcpy(note.name, name, strnlen(name, sizeof note.name));
    n->pids = xreallocarray(n->pids, n->npids + 1, sizeof *n->pids);
    add_program(n, &note);
}

void notrecorded_sort(struct notrecorded *n)
{
    n->npids = distinct(n->pids, n->npids);
    if (n->nprograms)
        qsort(n->programs, n->nprograms, sizeof *n->programs, by_times);
}

void notrecorded_release(struct notrecorded *n)
{
    free(n->programs);
    free(n->pids);
    *n = (struct notrecorded){0};
}

size_t notrecorded_processes(const struct notrecorded *n, const uint32_t *pids, size_t npids)
{
    uint32_t *sorted = xcalloc(npids, sizeof *sorted);
    size_t others = 0, count;

    memcpy(sorted, pids, npids * sizeof *sorted);
    count = distinct(sorted, npids);
    for (size_t i = 0; i < n->npids; i++)
        others += !bsearch(&n->pids[i], sorted, count, sizeof *sorted, by_number);
    free(sorted);
    return others + n->unnamed;
}

/* ---- telling ---- */

static const char *because(enum runnote_why why)
{
    switch (why) {
    case RUNNOTE_STATIC:
        return "linked statically";
    case RUNNOTE_MACHINE:
        return "of another word size or processor";
    case RUNNOTE_MUSL:
        return "uses musl";
    case RUNNOTE_GNU:
        return "uses the GNU C library";
    case RUNNOTE_SANITIZER:
        return "built with a sanitizer";
    case RUNNOTE_SETUID:
        return "set-user-id";
    case RUNNOTE_SETGID:
        return "set-group-id";
    case RUNNOTE_CAPABILITIES:
        return "has file capabilities";
    case RUNNOTE_ENVIRONMENT:
        return "started with an environment without the recorder";
    case RUNNOTE_USER:
        return "another user, who may not write the recording";
    case RUNNOTE_OUT_OF_SIGHT:
        return "in another root directory";
    case RUNNOTE_SANDBOX:
        return "forked in a sandbox";
    case RUNNOTE_NOT_BEGUN:
        return "ended as it began";
    case RUNNOTE_DAMAGED:
        return "its trace cannot be read";
    default:
        return "the recorder could not start";
    }
}

void notrecorded_add(struct strbuf *sb, const struct notrecorded *n, size_t most)
{
    size_t more = n->unnamed;

    for (size_t i = 0; i < n->nprograms; i++) {
        const struct notrecorded_program *p = &n->programs[i];

        if (i >= most) {
            more += p->times;
            continue;
        }
        strbuf_addf(sb, "%s%s (%s", i ? ", " : "", p->name, because(p->why));
        if (p->why == RUNNOTE_FAILED && p->err)
            strbuf_addf(sb, ": %s", strerror(p->err));
        strbuf_addch(sb, ')');
        if (p->times > 1) {
            strbuf_addch(sb, ' ');
            value_add_number(sb, (struct folded_count){.whole = p->times}, true);
            strbuf_addstr(sb, " times");
        }
    }
    if (more) {
        strbuf_addstr(sb, n->nprograms ? " and " : "");
        value_add_number(sb, (struct folded_count){.whole = more}, true);
        strbuf_addstr(sb, " more");
    }
}
