/*
 * The kernel knows when a trace is complete (open_writers.h). Where the file system does not report
 * that, all traces wait for the end.
 *
 * A file is examined once it has a header, since one that is being created is not yet mapped. The
 * pause between rounds depends on the cost of a round that finds nothing.
 */
#define _GNU_SOURCE
#include "driver/monitor/trace_ingest.h"

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
#include "common/trace/trace_reader.h"
#include "driver/kept/ended_trace.h"
#include "driver/rundir/open_writers.h"
#include "driver/monitor/periodic_thread.h"

#define LOOK_MS 30u
#define REPORTED_AT_ONCE 8u /* spares */
#define SPARE_KEPT                                                                                 \
    (32u << 10)        /* bytes of a spare, which nine in ten traces of a configure fit in */
#define LOOK_SHARE 50u /* a round that finds nothing is so much shorter than the pause after it */

struct trace_ingest {
    struct rundir *rundir;
    struct run_totals *taken;
    struct periodic_thread *ticker;
    uint32_t spares_made, spares_reported; /* spares_reported: number that the processes know */
    uint32_t spares_taken;                 /* a lower bound: by the processes */
    uint64_t given_back;                   /* bytes of disk */
    bool rules_shared;
};

bool trace_ingest_is_complete(int fd)
{
    struct trace_header h;

    return pread(fd, &h, sizeof h, 0) == (ssize_t)sizeof h && trace_magic_matches(&h, sizeof h) &&
           has_no_writers(fd);
}

static bool tells_writers(const char *path)
{
    int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    bool tells = fd >= 0 && writers_are_detectable(fd);

    if (fd >= 0)
        close(fd);
    return tells;
}

/* ---- one file ---- */

/*
 * Empties a small trace by writing zeros over it. False: it is too large, or it has holes.
 *
 * Most processes are short, and their traces are a few pages. Those pages remain in the file, as
 * zeros. Overwriting them takes the kernel a third of the time that it takes to free them and have
 * the next process fill others. Larger files are freed, and with a disk budget all of them.
 *
 * The zeros cover all data in the file, as the file system reports it, including bytes that a stray
 * pointer of the program has written far behind the trace's end.
 */
static bool clear_small(int fd)
{
    static const char zeros[SPARE_KEPT];
    off_t end = lseek(fd, 0, SEEK_HOLE);

    return end > 0 && end <= (off_t)sizeof zeros && lseek(fd, end, SEEK_DATA) < 0 &&
           errno == ENXIO && pwrite(fd, zeros, (size_t)end, 0) == end;
}

/* Empties a file, which it opens for that. ext4 writes an emptied file to the disk when it is
 * closed for the first time afterwards, which is cheapest before there is data in it. */
static bool empty(const struct trace_ingest *in, const char *path)
{
    int fd = plainfile_open(path, O_WRONLY | O_NOFOLLOW);
    bool emptied = fd >= 0 && ((!in->rundir->disk && clear_small(fd)) || ftruncate(fd, 0) == 0);

    if (fd >= 0)
        close(fd);
    return emptied;
}

static bool has_place(struct trace_ingest *in)
{
    if (in->spares_made - in->spares_taken >= RUN_STATUS_SPARES)
        in->spares_taken = run_status_file_spares_taken(&in->rundir->notes);
    return in->spares_made - in->spares_taken < RUN_STATUS_SPARES;
}

/* Reports new spares to the processes, several at once: the status file has to be opened for each
 * report. */
static void print_spares(struct trace_ingest *in, uint32_t at_least)
{
    if (in->spares_made - in->spares_reported < at_least)
        return;
    in->spares_reported = in->spares_made;
    run_status_file_spares(&in->rundir->notes, in->spares_made);
}

/* Makes the file a spare. False: there is no place for it. */
static bool make_spare(struct trace_ingest *in, const char *path)
{
    bool moved = false;

    while (!moved && has_place(in)) {
        const char *place = in->rundir->spares[in->spares_made % RUN_STATUS_SPARES];

        moved = renameat2(AT_FDCWD, path, AT_FDCWD, place, RENAME_NOREPLACE) == 0;
        /* A spare is still at its place if a process has taken it and ended before moving it. It is
         * a spare again. */
        if (!moved && errno != EEXIST)
            break;
        in->spares_made++;
    }
    print_spares(in, REPORTED_AT_ONCE);
    return moved;
}

/* Removes the trace's name. The file becomes a spare if a place for one is free; else it is
 * removed. */
static void give_back(struct trace_ingest *in, const char *path)
{
    if (!empty(in, path) || !make_spare(in, path))
        unlink(path);
}

/* Shares rules once a process has ended while others run, so that more are likely to come. */
static void share_rules(struct trace_ingest *in)
{
    in->rules_shared = true;
    run_status_file_share_rules(&in->rundir->notes, in->rundir->rules);
}

/* Ingests a complete trace. One that cannot be read remains until the end, where it is reported. */
static bool take_if_complete(struct trace_ingest *in, const char *path)
{
    int fd = plainfile_open(path, O_RDONLY | O_NOFOLLOW);
    bool complete = fd >= 0 && trace_ingest_is_complete(fd);
    struct trace *t;
    uint64_t bytes;

    if (fd >= 0)
        close(fd);
    if (complete)
        ended_trace_keepers(path);
    if (!complete || trace_load_quietly(path, &t) != 0)
        return false;
    bytes = (uint64_t)t->header.units * TRACE_UNIT;
    run_totals_add(in->taken, t, true);
    give_back(in, path);
    in->given_back += bytes;
    if (in->rundir->disk)
        run_status_file_given_back(&in->rundir->notes, in->given_back);
    else if (!in->rules_shared)
        share_rules(in);
    return true;
}

/* ---- rounds ---- */

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

static struct found list_traces(const struct trace_ingest *in)
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

/* Stores the ancestors of processes. An ancestor began before its descendants, so the list is made
 * before any descendant's trace is ingested, and misses none. */
static void note_ancestors(const struct trace_ingest *in)
{
    struct process_tree *tree = in->taken->options.tree;
    struct found all = {.paths = NULL};

    if (tree)
        all = list_traces(in);
    for (size_t i = 0; i < all.n; i++)
        process_tree_add_file(tree, all.paths[i]);
    forget(&all);
}

/* Only examining traces that are not complete counts as cost: a complete one has to be read at some
 * time anyway. */
static unsigned look(void *arg)
{
    struct trace_ingest *in = arg;
    struct found all = list_traces(in);
    uint64_t vain_ns = 0, pause;

    note_ancestors(in);
    for (size_t i = 0; i < all.n; i++) {
        uint64_t begun = clock_ns(CLOCK_MONOTONIC);

        if (!take_if_complete(in, all.paths[i]))
            vain_ns += clock_ns(CLOCK_MONOTONIC) - begun;
    }
    forget(&all);
    print_spares(in, 1);
    pause = vain_ns * LOOK_SHARE / 1000000u;
    return pause > LOOK_MS ? (unsigned)pause : LOOK_MS;
}

struct trace_ingest *trace_ingest_start(struct rundir *rundir, struct run_totals *taken)
{
    struct trace_ingest *in;

    if (!tells_writers(rundir->path))
        return NULL;
    in = xcalloc(1, sizeof *in);
    in->rundir = rundir;
    in->taken = taken;
    in->ticker = periodic_thread_start(look, LOOK_MS, in);
    if (in->ticker)
        return in;
    free(in);
    return NULL;
}

void trace_ingest_stop(struct trace_ingest *in)
{
    if (!in)
        return;
    periodic_thread_stop(in->ticker);
    free(in);
}
