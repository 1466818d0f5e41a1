/*
 * run_status_client.h: the recorder's side of the run's status file (common/run_status.h).
 *
 * All functions except the first three make no system call, take no lock, and may be called in a
 * vfork child and in a signal handler. Without a file they do nothing.
 */
#ifndef FLAME_PRELOAD_RUNTIME_RUN_STATUS_CLIENT_H
#define FLAME_PRELOAD_RUNTIME_RUN_STATUS_CLIENT_H

#include <stdbool.h>

#include "common/run_status.h"

/* Maps the file. 0, or -errno if it does not exist, belongs to another user or is not a status
 * file. */
int run_status_open(const char *path);

/* Maps the file of unwind rules beside the status file at `path`, if there is one, for the walks of
 * this process. */
void run_status_share_rules(const char *path);

/* If `at` lies in a mapped file, which was truncated, replaces that file's mapping, and returns
 * true. */
bool run_status_detach(const void *at);

/* Whether there is a file. If so, the summary reports its notes, and nothing is written to standard
 * error. */
bool run_status_have(void);

/* Whether the run is over: it has ended, its budget is used up, or its file no longer existed.
 * Nothing that is recorded from now on will be read. */
bool run_status_over(void);

/* Adds a note about process `pid` (0: see run_status_set_pid) and the program at `path`; `err`: an
 * errno, or 0. Returns the note's slot, or 0 if there is no file or no room (which is counted). */
uint32_t run_status_add(enum unrecorded_why why, int err, uint32_t pid, const char *path);

/* Removes a note, because its event did not happen. Slot 0 is allowed. */
void run_status_take_back(uint32_t slot);
void run_status_set_pid(uint32_t slot, uint32_t pid);

/* Takes that many bytes from the run's disk budget. False: the budget is used up, which ends the
 * run. */
bool run_status_take_disk(uint64_t bytes);

/* Takes a spare file and returns its number, below RUN_STATUS_SPARES, or -1 if there is none. */
int run_status_take_spare(void);

/* Reason why this process does not find the run's files although it has mapped the status file:
 * other files cover their path, or its root directory is another one. Asks the kernel. */
enum unrecorded_why run_status_out_of_sight(void);

#endif
