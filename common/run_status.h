/*
 * run_status.h: a file that the processes of a run and the driver share. It holds the programs that
 * were started and are not in the recording, with the reason; the disk budget; and the number of
 * spare files.
 *
 * There is one file for a run. The driver creates it beside the traces and every recorder maps it
 * when it starts, so that a process can write an entry without a system call: between vfork and
 * exec, under a seccomp filter, after the process has changed its user or its root. Each entry has
 * a slot of its own, taken by one atomic addition; an entry is valid once its `why` is set, and can
 * be taken back. Entries beyond the last slot are counted in `used`.
 *
 * The driver neither trusts nor maps the file (a recorded program could shorten it): it reads a
 * copy.
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
    UNRECORDED_ENVIRONMENT,  /* the program was started in an environment without the recorder */
    UNRECORDED_USER,         /* may not write to the recording's directory */
    UNRECORDED_OUT_OF_SIGHT, /* cannot see the recorder's or the recording's directory: chroot */
    UNRECORDED_SANDBOX,      /* forked in a sandbox that forbids making a recording */
    UNRECORDED_FAILED,       /* the recorder could not start in it */
    UNRECORDED_GNU,          /* uses the GNU C library, and the program that started it uses musl */
    UNRECORDED_NOT_FOLLOWED, /* the options exclude the programs that the command starts */
    UNRECORDED_COVERED,      /* sees another directory there: a mount of its own covers it */
    UNRECORDED_REASONS, /* end of the reasons that processes write; the driver sets later ones */
    UNRECORDED_NOT_BEGUN = UNRECORDED_REASONS, /* ended right after it had created its trace */
    UNRECORDED_DAMAGED,                        /* its trace cannot be read */
};

struct run_status_process {
    uint32_t pid;  /* as the process sees itself; 0: not known */
    uint16_t why;  /* enum unrecorded_why, written last */
    uint16_t err;  /* of UNRECORDED_FAILED: an errno; 0: none */
    char name[56]; /* the program's base name, cut, NUL-padded */
};

/*
 * Spares: files of zeros beside this file, spare.0 to spare.63, that the driver has prepared to
 * become traces, because a file system that has to create and delete thousands of files gets slow.
 * They are a ring: number i is at i % RUN_STATUS_SPARES, and numbers from spares_taken up to
 * spares_made exist. A process that takes one first adds 1 to spares_taken. Only moving the file
 * shows whether it really exists.
 */
#define RUN_STATUS_SPARES 64u

/*
 * Rules: how stacks are walked is equal in all processes that run a program. So in runs of many
 * processes a file beside this one shares the rules that they found (unwind/sharedrules.h has its
 * format).
 */
#define RUN_STATUS_RULES "rules"

/*
 * The budget of disk: before its trace grows, a process adds the bytes to disk_taken. The driver
 * adds the bytes of traces that it has ingested to disk_given_back. A process that would exceed the
 * limit does not grow, and ends the recording of all processes by storing the time.
 */

struct run_status {
    char magic[8];
    uint32_t over;         /* the driver: the run has ended, nothing is collected any more */
    uint32_t used;         /* slots taken; more than RUN_STATUS_MAX when there were not enough */
    uint32_t spares_taken; /* by processes */
    uint32_t spares_made;  /* by the driver */
    uint32_t locked;       /* the driver: it holds a lock on the file while it lives */
    uint32_t rules;        /* the driver: the file of rules exists beside this one */
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
