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
    struct run_status *own; /* the driver's words as it wrote them; all else is zero */
};

/* Makes the file, before anything runs, with a budget of `disk` bytes (0: none), and locks it until
 * it is closed. 0, or -errno: there is no file, and nothing to close. */
int run_status_file_make(struct run_status_file *f, const char *path, uint64_t disk);
void run_status_file_close(struct run_status_file *f);

/* The functions below do nothing when there is no file. */

/* Says in the file that the run is over. */
void run_status_file_over(struct run_status_file *f);
/* Says in the file that so many bytes of disk have been given back so far. */
void run_status_file_given_back(struct run_status_file *f, uint64_t bytes);
/* Says in the file that so many spares have been left beside it so far. */
void run_status_file_spares(struct run_status_file *f, uint32_t made);
/* How many of them processes have taken so far, as they say; 0 when it cannot be read. */
uint32_t run_status_file_spares_taken(const struct run_status_file *f);

/* Makes the file of rules at `rules`, which is beside that of notes, and says so there. */
void run_status_file_share_rules(struct run_status_file *f, const char *rules);

/*
 * Reads all of it, as it is now; all zero when it cannot be read. Appends to `wrong` what of the
 * driver's is not what it has written, or cannot be: "over, disk_limit". `most`: more notes cannot
 * have been left.
 */
void run_status_file_read(const struct run_status_file *f, uint64_t most, struct run_status *to,
                          struct strbuf *wrong);

#endif
