/*
 * run_status_client.h: the recorder's side of common/run_status.h.
 *
 * The functions here but the first three make no system call, take no lock and are fine in a
 * vfork child and in a signal handler. Without a file they do nothing.
 */
#ifndef FLAME_PRELOAD_RUNTIME_RUN_STATUS_CLIENT_H
#define FLAME_PRELOAD_RUNTIME_RUN_STATUS_CLIENT_H

#include <stdbool.h>

#include "common/run_status.h"

/* Maps the file. 0, or -errno when it is not there, is not ours or is none. */
int run_status_open(const char *path);

/* Maps the file of rules beside the file of notes at `path`, if there is one, for the walks of
 * this process. */
void run_status_share_rules(const char *path);

/* If `at` lies in a mapped file, which somebody has cut short, that file is let go of. True if
 * that was so. */
bool run_status_detach(const void *at);

/* Whether there is a file. If so, notes go there and not to standard error. */
bool run_status_have(void);

/* Whether the run has ended, or its budget, or its file was not there any more: nothing that is
 * recorded from now on will be read. */
bool run_status_over(void);

/* Leaves a note of process `pid` (0: see run_status_set_pid) and the program at `path`; `err`: an
 * errno, or 0. Returns its slot, or 0 when there is no room (it is counted) or no file. */
uint32_t run_status_add(enum unrecorded_why why, int err, uint32_t pid, const char *path);

/* Takes a note back: what it tells of did not happen. Slot 0 is allowed. */
void run_status_take_back(uint32_t slot);
void run_status_set_pid(uint32_t slot, uint32_t pid);

/* Takes so many bytes of the run's budget of disk. False: it is used up, and with that the
 * run is over. */
bool run_status_take_disk(uint64_t bytes);

/* Takes a spare and returns its number, below RUN_STATUS_SPARES, or -1 when there is none. */
int run_status_take_spare(void);

/* Why this process, which has the notes, does not find the run's files: it sees something else in
 * their place, or from another root directory. Asks the kernel. */
enum unrecorded_why run_status_out_of_sight(void);

#endif
