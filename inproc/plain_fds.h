/*
 * plain_fds.h: descriptors of a process that are known to be of plain files.
 *
 * No thread waits for a regular file or a directory until another acts on it. So the tracer needs
 * no facts about their descriptors in time, and their close need not stop for it. The close of a
 * pipe or a socket stops, so that the tracer resolves all calls that were logged before while the
 * number still has its old meaning. Where the library of waits knows that a descriptor is of a
 * plain file, and no call on it has slept, the close does not stop, and is not even logged.
 *
 * Each process has a table, in the memory of the run, because the tracer changes it too: it sees
 * the closes that the library does not (dup2, close_range, code that is not patched, exec), and
 * calls that stop. PLAIN_FDS_OPENED of a number means: it was opened by a logged open, and no event
 * about it, past or future, depends on its object. So:
 *
 * - the library sets it after an open, unless `closes` has changed meanwhile;
 *
 * - a close of the number clears it first: the library does, or the tracer at the stop;
 *
 * - a call on the descriptor that sleeps clears it (the library does, while it still counts as a
 *   user), and so does one that stops (the tracer does). The close of such a descriptor stops;
 *
 * - a close while another thread is in a call on it (the count) stops, too.
 *
 * PLAIN_FDS_PLAIN marks such a file: the library queries the kernel when this is needed.
 *
 * A forked child has its own table, which begins empty: closes of inherited descriptors stop. Where
 * numbers may change unseen (io_uring, tables of descriptors that are not shared like the memory
 * is) no entry is trusted any more: `off`, of a process, or of the run (shm.h).
 */
#ifndef FLAME_INPROC_PLAIN_FDS_H
#define FLAME_INPROC_PLAIN_FDS_H

#include <stdbool.h>

#include "common/compiler.h"

#define PLAIN_FDS_TABLES 512u /* processes that have a table at a time; closes of others stop */
#define PLAIN_FDS_NUMBERS 1024u

#define PLAIN_FDS_OPENED 0x8000u
#define PLAIN_FDS_PLAIN 0x4000u
#define PLAIN_FDS_USERS 0x3fffu /* number of threads that are in a call on it */

struct plain_fds {
    uint32_t owner;  /* number of the process; 0: free. Set by it, cleared by the tracer */
    uint32_t off;    /* 1: PLAIN_FDS_OPENED is not set any more */
    uint32_t closes; /* goes up before a close that stops; written by the tracer */
    uint32_t reserved;
    uint16_t numbers[PLAIN_FDS_NUMBERS];
};

_Static_assert(sizeof(struct plain_fds) == 16 + PLAIN_FDS_NUMBERS * 2, "shared between programs");

/* Drops the state of the number, but not its count of users. */
static inline void plain_fds_forget(struct plain_fds *f, unsigned fd)
{
    if (fd < PLAIN_FDS_NUMBERS &&
        __atomic_load_n(&f->numbers[fd], __ATOMIC_RELAXED) & PLAIN_FDS_OPENED)
        __atomic_fetch_and(&f->numbers[fd], PLAIN_FDS_USERS, __ATOMIC_SEQ_CST);
}

static inline void plain_fds_forget_all(struct plain_fds *f)
{
    for (unsigned fd = 0; fd < PLAIN_FDS_NUMBERS; fd++)
        plain_fds_forget(f, fd);
}

#endif
