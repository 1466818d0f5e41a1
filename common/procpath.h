/*
 * procpath.h: "/proc/PID/WHAT", the names of the kernel's files about a process or thread.
 *
 * The name is returned by value, so that it can be used in an expression:
 *
 *     fd = open(proc_path(pid, "status").s, O_RDONLY | O_CLOEXEC);
 *
 * and lives until the end of that expression; store the struct where the name is needed longer.
 * Allocates nothing and formats without printf, so the recorder uses it, too. Thread- and
 * signal-safe.
 */
#ifndef FLAME_COMMON_PROCPATH_H
#define FLAME_COMMON_PROCPATH_H

#include <sys/types.h>

#include "common/compiler.h"

struct proc_path {
    char s[72];
};

/* Value in place of a pid: the caller, "/proc/self". 0 is no process. */
#define PROC_SELF (-1)
/* The calling thread, "/proc/thread-self": files of the process can be read there even when its
 * first thread has ended. */
#define PROC_THREAD_SELF (-2)

/* `what` has at most 40 bytes; the rest is cut off. */
struct proc_path proc_path(pid_t pid, const char *what);
/* Like proc_path, with "/N" behind it: a descriptor of "fd", a thread of "task". */
struct proc_path proc_path_of(pid_t pid, const char *what, int n);

#endif
