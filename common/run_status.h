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

#define RUN_STATUS_MAGIC "FLAMENTS"

enum unrecorded_why {
    UNRECORDED_NONE = 0, /* not there yet, or taken back */
    UNRECORDED_STATIC,
    UNRECORDED_MACHINE,
    UNRECORDED_MUSL,
    UNRECORDED_SANITIZER,
    UNRECORDED_SETUID,
    UNRECORDED_SETGID,
    UNRECORDED_CAPABILITIES,
    UNRECORDED_ENVIRONMENT,  /* the recorder was taken out of the environment it was given */
    UNRECORDED_USER,         /* may not write to where the recording is */
    UNRECORDED_OUT_OF_SIGHT, /* does not see where the recorder or the recording is: chroot */
    UNRECORDED_SANDBOX,      /* forked in a sandbox that forbids making a recording */
    UNRECORDED_FAILED,       /* the recorder could not start in it */
    UNRECORDED_GNU,          /* uses the GNU C library, and who started it uses musl */
    UNRECORDED_NOT_FOLLOWED, /* the options leave out what the command starts */
    UNRECORDED_COVERED,      /* sees something else there: a mount of its own covers it */
    UNRECORDED_REASONS,      /* in a note; the driver has more: */
    UNRECORDED_NOT_BEGUN = UNRECORDED_REASONS, /* ended when it had made its trace */
    UNRECORDED_DAMAGED,                        /* its trace cannot be read */
};

struct run_status_process {
    uint32_t pid;  /* as the process sees itself; 0: not known */
    uint16_t why;  /* enum unrecorded_why, written last */
    uint16_t err;  /* of UNRECORDED_FAILED: an errno; 0: none */
    char name[56]; /* the program's base name, cut, NUL-padded */
};

/*
 * Spares: beside the file are some without anything but zeros, spare.0 to spare.63, that the driver
 * has left to become traces: a file system that is asked for thousands of new files and to forget
 * thousands of old ones gets slow. They are a ring: number i lies at i % RUN_STATUS_SPARES,
 * those from spares_taken up to spares_made are there, and whoever takes one adds 1 to
 * the former first. Whether it is really there is seen when it is moved.
 */
#define RUN_STATUS_SPARES 64u

/*
 * Rules: how stacks are walked is the same in all processes that run a program, so where there are
 * many a file beside this one keeps what they found out (unwind/sharedrules.h has its format).
 */
#define RUN_STATUS_RULES "rules"

/*
 * The budget of disk: a process counts what its trace is to grow by before it grows, the
 * driver what it has given back of traces it has taken in. A process that would exceed the
 * limit does not grow, and ends the recording of all processes by saying when that was.
 */

struct run_status {
    char magic[8];
    uint32_t over;         /* the driver: the run has ended, nothing is collected any more */
    uint32_t used;         /* slots taken, RUN_STATUS_MAX or more when there were more */
    uint32_t spares_taken; /* by processes */
    uint32_t spares_made;  /* by the driver */
    uint32_t locked;       /* the driver: it holds a lock on the file while it lives */
    uint32_t rules;        /* the driver: beside the file is that of rules */
    uint64_t disk_limit;   /* the driver: bytes for all traces, see above; 0: no limit */
    uint64_t disk_taken;   /* by processes, since the beginning */
    uint64_t disk_given_back;
    uint64_t disk_full_ns; /* CLOCK_MONOTONIC; 0: not yet */
    struct run_status_process notes[1023];
};

#define RUN_STATUS_MAX 1023u

_Static_assert(sizeof(struct run_status_process) == 64, "mapped by all");
_Static_assert(sizeof(struct run_status) == 65536, "mapped by all");

#endif
