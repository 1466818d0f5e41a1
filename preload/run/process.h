/*
 * process.h: what this process is, by whatever way of asking it has left.
 *
 * In a sandbox the calls for that may be forbidden where reading files is not: then
 * /proc/self/status is asked. No malloc; thread-safe.
 */
#ifndef FLAME_PRELOAD_RUN_PROCESS_H
#define FLAME_PRELOAD_RUN_PROCESS_H

#include <stdbool.h>

#include "common/compiler.h"

struct process {
    uint32_t pid, ppid; /* 0: not known */
    char name[17];      /* as ps has it, NUL-terminated */
    int filters;        /* seccomp filters in force; 1 on kernels that do not count them */
    bool counted;       /* and this is not one of those */
};

/* Fills *p from a file of the form of /proc/PID/status. False when it cannot be read or has
 * another form. */
bool process_read(const char *path, struct process *p);

/* Fills *p for the calling process, but for `filters`. */
void process_ask(struct process *p);

/* From now on a name that is a loader's is that of the program in the file `exe`, which it was told
 * to run. Not for two threads at once. */
void process_set_program(const char *exe);

/* The calling thread's name; all zero when it cannot be had. */
void process_thread_name(char name[16]);

#endif
