/*
 * When a trace is complete is for the kernel to say (writers.h). Where the file system does
 * not know, all traces wait for the end.
 *
 * A file is looked at from when it has a header, since one that is being made is not yet
 * mapped. How often depends on what it costs to look in vain.
 */
#define _GNU_SOURCE
#include "driver/watch/intake.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "common/alloc.h"
#include "common/clock.h"
#include "common/files/plainfile.h"
#include "common/strbuf.h"
#include "driver/files/writers.h"
#include "driver/watch/ticker.h"

#define LOOK_MS 30u
#define TOLD_AT_ONCE 8u /* spares */
#define SPARE_KEPT                                                                                 \
    (32u << 10)        /* bytes of a spare, which nine in ten traces of a configure fit in */
#define LOOK_SHARE 50u /* looking in vain is so much shorter than the pause after it */

struct intake {
    struct rundir *rundir;
    struct taken *taken;
    struct ticker *ticker;
    uint32_t spares_made, spares_told; /* told: to the processes */
    uint32_t spares_taken;             /* at least, by the processes */
    uint64_t given_back;               /* bytes of disk */
    bool rules_shared;
};

bool intake_is_complete(int fd)
{
    struct trace_header h;

    return pread(fd, &h, sizeof h, 0) == (ssize_t)sizeof h && trace_magic_matches(&h, sizeof h) &&
           writers_are_gone(fd);
}

static bool tells_writers(const char *path)
{
    int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    bool tells = fd >= 0 && writers_are_told(fd);

    if (fd >= 0)
        close(fd);
    return tells;
}

/* ---- one file ---- */

/*
 * Most processes live for a moment, and their traces are a few pages. Those stay in the file, as
 * zeros: to write them over takes the kernel a third of the time that it takes to give them back
 * and have the next process fill others. What holds more is given back, and all of it where there
 * is a budget of disk. What is zero is all that is there, by the file system's word: what a stray
 * pointer of the program's has written far behind the trace's end as well.
 */
static bool clear_small(int fd)
{
    static const char zeros[SPARE_KEPT];
    off_t end = lseek(fd, 0, SEEK_HOLE);

    return end > 0 && end <= (off_t)sizeof zeros && lseek(fd, end, SEEK_DATA) < 0 &&
           errno == ENXIO && pwrite(fd, zeros, (size_t)end, 0) == end;
}

/* Opened for it: ext4 writes a file that was emptied to the disk when it is closed for the
 * first time afterwards, which is better done before there is something in it. */
static bool empty(const struct intake *in, const char *path)
{
    int fd = plainfile_open(path, O_WRONLY | O_NOFOLLOW);
    bool emptied = fd >= 0 && ((!in->rundir->disk && clear_small(fd)) || ftruncate(fd, 0) == 0);

    if (fd >= 0)
        close(fd);
    return emptied;
}

static bool has_place(struct intake *in)
{
    if (in->spares_made - in->spares_taken >= RUNNOTES_SPARES)
        in->spares_taken = notesfile_spares_taken(&in->rundir->notes);
    return in->spares_made - in->spares_taken < RUNNOTES_SPARES;
}

/* The notes are a file like another, so they are not opened for each. */
static void tell_spares(struct intake *in, uint32_t at_least)
{
    if (in->spares_made - in->spares_told < at_least)
        return;
    in->spares_told = in->spares_made;
    notesfile_spares(&in->rundir->notes, in->spares_made);
}

/* False: there is no place for it. */
static bool make_spare(struct intake *in, const char *path)
{
    bool moved = false;

    while (!moved && has_place(in)) {
        const char *place = in->rundir->spares[in->spares_made % RUNNOTES_SPARES];

        moved = renameat2(AT_FDCWD, path, AT_FDCWD, place, RENAME_NOREPLACE) == 0;
        /* One that a process has taken, and has been ended before it could move it, is still
         * there, and is one again. */
        if (!moved && errno != EEXIST)
            break;
        in->spares_made++;
    }
    tell_spares(in, TOLD_AT_ONCE);
    return moved;
}

/* The name is free again; the file is a spare if a place for one is free, or gone. */
static void give_back(struct intake *in, const char *path)
{
    if (!empty(in, path) || !make_spare(in, path))
        unlink(path);
}

/* A process has ended while others run, so that more are likely to come. */
static void share_rules(struct intake *in)
{
    in->rules_shared = true;
    notesfile_share_rules(&in->rundir->notes, in->rundir->rules);
}

/* What cannot be read is left for the end, where it is told. */
static bool take_if_complete(struct intake *in, const char *path)
{
    int fd = plainfile_open(path, O_RDONLY | O_NOFOLLOW);
    bool complete = fd >= 0 && intake_is_complete(fd);
    struct trace *t;
    uint64_t bytes;

    if (fd >= 0)
        close(fd);
    if (!complete || trace_load_quietly(path, &t) != 0)
        return false;
    bytes = (uint64_t)t->header.units * TRACE_UNIT;
    taken_add(in->taken, t, true);
    give_back(in, path);
    in->given_back += bytes;
    if (in->rundir->disk)
        notesfile_given_back(&in->rundir->notes, in->given_back);
    else if (!in->rules_shared)
        share_rules(in);
    return true;
}

/* ---- looking ---- */

/* The paths of the traces there are. */
struct found {
    char **paths;
    size_t n, alloc;
};

static void add_found(const char *path, void *arg)
{
    struct found *f = arg;

    GROW(f->paths, f->n, f->alloc);
    f->paths[f->n++] = xstrdup(path);
}

static struct found list_traces(const struct intake *in)
{
    struct found f = {.paths = NULL};

    rundir_each_trace(in->rundir->path, add_found, &f);
    return f;
}

static void forget(struct found *f)
{
    for (size_t i = 0; i < f->n; i++)
        free(f->paths[i]);
    free(f->paths);
}

/* Whoever a process descends from began before it: those who are taken in are listed before their
 * ancestors are, so that none of these is missed. */
static void note_ancestors(const struct intake *in)
{
    struct proctree *tree = in->taken->options.tree;
    struct found all = {.paths = NULL};

    if (tree)
        all = list_traces(in);
    for (size_t i = 0; i < all.n; i++)
        proctree_add_file(tree, all.paths[i]);
    forget(&all);
}

/* Taking has to be done at some time; what is looked at in vain is what looks cost. */
static unsigned look(void *arg)
{
    struct intake *in = arg;
    struct found all = list_traces(in);
    uint64_t vain_ns = 0, pause;

    note_ancestors(in);
    for (size_t i = 0; i < all.n; i++) {
        uint64_t begun = clock_ns(CLOCK_MONOTONIC);

        if (!take_if_complete(in, all.paths[i]))
            vain_ns += clock_ns(CLOCK_MONOTONIC) - begun;
    }
    forget(&all);
    tell_spares(in, 1);
    pause = vain_ns * LOOK_SHARE / 1000000u;
    return pause > LOOK_MS ? (unsigned)pause : LOOK_MS;
}

struct intake *intake_start(struct rundir *rundir, struct taken *taken)
{
    struct intake *in;

    if (!tells_writers(rundir->path))
        return NULL;
    in = xcalloc(1, sizeof *in);
    in->rundir = rundir;
    in->taken = taken;
    in->ticker = ticker_start(look, LOOK_MS, in);
    if (in->ticker)
        return in;
    free(in);
    return NULL;
}

void intake_stop(struct intake *in)
{
    if (!in)
        return;
    ticker_stop(in->ticker);
    free(in);
}
