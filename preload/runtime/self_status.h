/*
 * self_status.h: identity of this process, by any method that a sandbox leaves.
 *
 * A sandbox may forbid the calls for it and still allow files to be read: then /proc/self/status is
 * read. No malloc; thread-safe.
 */
#ifndef FLAME_PRELOAD_RUNTIME_SELF_STATUS_H
#define FLAME_PRELOAD_RUNTIME_SELF_STATUS_H

#include <stdbool.h>

#include "common/compiler.h"

struct process {
    uint32_t pid, ppid; /* 0: not known */
    char name[17];      /* name as ps shows it, NUL-terminated */
    int filters;  /* number of seccomp filters in force; 1 on kernels that do not count them */
    bool counted; /* the kernel counts them */
};

/* Fills *p from a file of the form of /proc/PID/status. False when it cannot be read or has
 * another form. */
bool self_status_read(const char *path, struct process *p);

/* Fills *p for the calling process, except `filters`. */
void self_status_ask(struct process *p);

/* Sets the program, in the file `exe`, that the loader was asked to run: its name replaces a
 * loader's name from now on. Not for two threads at once. */
void self_set_program(const char *exe);

/* The calling thread's name; all zero if it cannot be read. */
void self_thread_name(char name[16]);

#endif
