/*
 * unrecorded.h: the processes of a run that are not in its recording, and why.
 *
 * The driver's side of common/run_status.h.
 */
#ifndef FLAME_DRIVER_RUNDIR_UNRECORDED_H
#define FLAME_DRIVER_RUNDIR_UNRECORDED_H

#include "common/run_status.h"
#include "common/strbuf.h"
#include "driver/rundir/run_status_file.h"

/* Programs of one name that were not recorded for one reason. */
struct unrecorded_program {
    char name[sizeof((struct run_status_process *)0)->name + 1];
    enum unrecorded_why why;
    int err; /* of UNRECORDED_FAILED: an errno, or 0 */
    size_t times;
};

struct unrecorded {
    struct unrecorded_program *programs; /* the most frequent first */
    size_t nprograms;
    struct unrecorded_process {
        uint32_t pid;
        enum unrecorded_why why;
    } * process; /* from all entries with a pid, by pid */
    size_t nprocesses;
    size_t unnamed;    /* number of entries for which there was no room */
    uint64_t full_ns;  /* CLOCK_MONOTONIC: when the budget of disk was used up; 0: it was not */
    char *overwritten; /* parts of the file that another process has overwritten; NULL: none */
};

/* Reads the status file; *n is empty when it cannot be read. `most` is as for run_status_file_read.
 * Release it. */
void unrecorded_read(struct unrecorded *n, const struct run_status_file *f, uint64_t most);
void unrecorded_release(struct unrecorded *n);

/* Adds a process that the driver knows of; `pid` 0: not known. Call unrecorded_sort() after the
 * last one. */
void unrecorded_add_process(struct unrecorded *n, const char *name, uint32_t pid,
                            enum unrecorded_why why);
void unrecorded_sort(struct unrecorded *n);

/* The number of processes that left no trace: those whose pids are not in pids[0..npids). */
size_t unrecorded_processes(const struct unrecorded *n, const uint32_t *pids, size_t npids);

/* Whether the reason is not an option of the user's, and the process may have allocated or waited.
 * (unreadable_traces.h reports damaged traces.) */
bool unrecorded_is_doubt(enum unrecorded_why why);

/* "3 times hello, which uses musl, ...", at most `most` programs. Nothing when there are none. */
void unrecorded_add(struct strbuf *sb, const struct unrecorded *n, size_t most);

#endif
