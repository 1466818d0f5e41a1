/*
 * run_status.h: a file that the processes of a run and the driver share. In it stand the programs
 * that were started and are not in the recording, with the reason; the budget of disk; and how
 * many spare files there are.
 *
 * One file for a run, made by the driver beside the traces and mapped by every recorder
 * when it starts, so that something can be noted without a system call: between vfork and
 * exec, under a seccomp filter, after the process has changed its user or its root. Each
 * note has a slot of its own, taken by one atomic addition; a note is there once its
 * `why` is set, and can be taken back. Notes beyond the last slot are counted in `used`.
 *
 * The driver neither trusts nor maps it (whoever is recorded could shorten it): it reads
 * a copy.
 */
#ifndef FLAME_COMMON_RUN_STATUS_H
#define FLAME_COMMON_RUN_STATUS_H

#include "common/compiler.h"

#define RUNNOTES_MAGIC "FLAMENTS"

enum runnote_why {
    RUNNOTE_NONE = 0, /* not there yet, or taken back */
    RUNNOTE_STATIC,
    RUNNOTE_MACHINE,
    RUNNOTE_MUSL,
    RUNNOTE_SANITIZER,
    RUNNOTE_SETUID,
    RUNNOTE_SETGID,
    RUNNOTE_CAPABILITIES,
    RUNNOTE_ENVIRONMENT,  /* the recorder was taken out of the environment it was given */
    RUNNOTE_USER,         /* may not write to where the recording is */
    RUNNOTE_OUT_OF_SIGHT, /* does not see where the recorder or the recording is: chroot */
    RUNNOTE_SANDBOX,      /* forked in a sandbox that forbids making a recording */
    RUNNOTE_FAILED,       /* the recorder could not start in it */
    RUNNOTE_GNU,          /* uses the GNU C library, and who started it uses musl */
    RUNNOTE_NOT_FOLLOWED, /* the options leave out what the command starts */
    RUNNOTE_COVERED,      /* sees something else there: a mount of its own covers it */
    RUNNOTE_REASONS,      /* in a note; the driver has more: */
    RUNNOTE_NOT_BEGUN = RUNNOTE_REASONS, /* ended when it had made its trace */
    RUNNOTE_DAMAGED,                     /* its trace cannot be read */
};

struct runnote {
    uint32_t pid;  /* as the process sees itself; 0: not known */
    uint16_t why;  /* enum runnote_why, written last */
    uint16_t err;  /* of RUNNOTE_FAILED: an errno; 0: none */
    char name[56]; /* the program's base name, cut, NUL-padded */
};

/*
 * Spares: beside the file are some without anything but zeros, spare.0 to spare.63, that the driver
 * has left to become traces: a file system that is asked for thousands of new files and to forget
 * thousands of old ones gets slow. They are a ring: number i lies at i % RUNNOTES_SPARES,
 * those from spares_taken up to spares_made are there, and whoever takes one adds 1 to
 * the former first. Whether it is really there is seen when it is moved.
 */
#define RUNNOTES_SPARES 64u

/*
 * Rules: how stacks are walked is the same in all processes that run a program, so where there are
 * many a file beside this one keeps what they found out (unwind/sharedrules.h has its format).
 */
#define RUNNOTES_RULES "rules"

/*
 * The budget of disk: a process counts what its trace is to grow by before it grows, the
 * driver what it has given back of traces it has taken in. A process that would exceed the
 * limit does not grow, and ends the recording of all processes by saying when that was.
 */

struct runnotes {
    char magic[8];
    uint32_t over;         /* the driver: the run has ended, nothing is collected any more */
    uint32_t used;         /* slots taken, RUNNOTES_MAX or more when there were more */
    uint32_t spares_taken; /* by processes */
    uint32_t spares_made;  /* by the driver */
    uint32_t locked;       /* the driver: it holds a lock on the file while it lives */
    uint32_t rules;        /* the driver: beside the file is that of rules */
    uint64_t disk_limit;   /* the driver: bytes for all traces, see above; 0: no limit */
    uint64_t disk_taken;   /* by processes, since the beginning */
    uint64_t disk_given_back;
    uint64_t disk_full_ns; /* CLOCK_MONOTONIC; 0: not yet */
    struct runnote notes[1023];
};

#define RUNNOTES_MAX 1023u

_Static_assert(sizeof(struct runnote) == 64, "mapped by all");
_Static_assert(sizeof(struct runnotes) == 65536, "mapped by all");

#endif
