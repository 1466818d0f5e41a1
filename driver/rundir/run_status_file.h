/*
 * run_status_file.h: the file that a run's processes and the driver share (common/run_status.h),
 * from the driver's side.
 *
 * Each process that is recorded has it mapped for writing, so that a stray pointer reaches it. What
 * the driver has written is kept here as well, and compared when the file is read.
 *
 * While the command runs one thread at a time may write.
 */
#ifndef FLAME_DRIVER_RUNDIR_RUN_STATUS_FILE_H
#define FLAME_DRIVER_RUNDIR_RUN_STATUS_FILE_H

#include <stdbool.h>
#include <stddef.h>

#include "common/run_status.h"
#include "common/strbuf.h"

struct run_status_file {
    char *path;
    int fd;                 /* for reading, with a lock on it; negative: there is no file */
    struct run_status *own; /* the driver's fields as it wrote them; all else is zero */
    uint32_t lost; /* bits of words[] (run_status_file.c) that the driver did not find as it had
                      written them when it wrote them anew */
};

/* Creates the file, before any program runs, with a budget of `disk` bytes (0: none), and locks it
 * until it is closed. 0, or -errno: there is no file, and nothing to close. */
int run_status_file_make(struct run_status_file *f, const char *path, uint64_t disk);
void run_status_file_close(struct run_status_file *f);

/* The functions below do nothing when there is no file. */

/* Writes to the file that the run has ended. */
void run_status_file_over(struct run_status_file *f);
/* Writes to the file how many bytes of disk have been freed so far. */
void run_status_file_given_back(struct run_status_file *f, uint64_t bytes);
/* Writes to the file how many spares have been created beside it so far. */
void run_status_file_spares(struct run_status_file *f, uint32_t made);
/* Number of spares that processes have taken so far, as the file has it; 0 when it cannot be
 * read. */
uint32_t run_status_file_spares_taken(const struct run_status_file *f);

/* Creates the file of rules at `rules`, beside the status file, and writes that to the latter. */
void run_status_file_share_rules(struct run_status_file *f, const char *rules);

/*
 * Reads the whole file in its present state; all zero when it cannot be read. Appends to `wrong`
 * the names of the driver's fields that another process has changed, or whose values are
 * impossible: "over, disk_limit". `most`: greatest possible number of entries.
 */
void run_status_file_read(const struct run_status_file *f, uint64_t most, struct run_status *to,
                          struct strbuf *wrong);

#endif
