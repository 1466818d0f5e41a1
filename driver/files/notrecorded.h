/*
 * notrecorded.h: the processes of a run that are not in its recording, and why.
 *
 * The driver's side of common/runnotes.h.
 */
#ifndef FLAME_DRIVER_FILES_NOTRECORDED_H
#define FLAME_DRIVER_FILES_NOTRECORDED_H

#include "common/runnotes.h"
#include "common/strbuf.h"

/* Programs of one name that were not recorded for one reason. */
struct notrecorded_program {
    char name[sizeof((struct runnote *)0)->name + 1];
    enum runnote_why why;
    int err; /* of RUNNOTE_FAILED: an errno, or 0 */
    size_t times;
};

struct notrecorded {
    struct notrecorded_program *programs; /* the most frequent first */
    size_t nprograms;
    uint32_t *pids; /* of all notes, each once, ascending */
    size_t npids;
    size_t unnamed;   /* notes for which there was no room */
    uint64_t full_ns; /* CLOCK_MONOTONIC: when the budget of disk was used up; 0: it was not */
};

/* Makes the file, before anything runs, with a budget of `disk` bytes (0: none), and locks it for
 * as long as the descriptor is open that it returns. Or -errno, and no file. */
int notrecorded_make(const char *path, uint64_t disk);

/* Says in the file that the run is over. */
void notrecorded_over(const char *path);

/* Says in the file that so many bytes of disk have been given back so far. */
void notrecorded_given_back(const char *path, uint64_t bytes);

/* Says in the file that so many spares have been left beside it so far. */
void notrecorded_spares(const char *path, uint32_t made);
/* How many of them processes have taken so far, as they say; 0 when it cannot be read. */
uint32_t notrecorded_spares_taken(const char *path);

/* Makes the file of rules at `rules`, which is beside that of notes, and says so there. */
void notrecorded_share_rules(const char *path, const char *rules);

/* What is in it; nothing when it cannot be read. Release it. */
void notrecorded_read(struct notrecorded *n, const char *path);
void notrecorded_release(struct notrecorded *n);

/* Adds one that the driver knows of; `pid` 0: not known. When all are added they are to be
 * sorted. */
void notrecorded_add_process(struct notrecorded *n, const char *name, uint32_t pid,
                             enum runnote_why why);
void notrecorded_sort(struct notrecorded *n);

/* How many processes there were that left no trace: those not among pids[0..npids). */
size_t notrecorded_processes(const struct notrecorded *n, const uint32_t *pids, size_t npids);

/* "3 times hello, which uses musl, ...", at most `most` programs. Nothing when there are none. */
void notrecorded_add(struct strbuf *sb, const struct notrecorded *n, size_t most);

#endif
