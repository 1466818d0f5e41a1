/*
 * proctask.h: facts about a thread from /proc, without stopping it.
 *
 * Thread-safe. False or -1 when the thread has ended or the file may not be read.
 */
#ifndef FLAME_TRACER_OBJECTS_PROCTASK_H
#define FLAME_TRACER_OBJECTS_PROCTASK_H

#include <stdbool.h>
#include <sys/types.h>

#include "common/compiler.h"
#include "tracer/offcpu/event.h"

enum task_where {
    TASK_RUNS,    /* on a CPU or waiting for one; perhaps in a call */
    TASK_FAULTS,  /* asleep, but in no system call */
    TASK_IN_CALL, /* asleep in call nr */
};

struct task_call {
    enum task_where where;
    int nr;
    uint64_t args[6];
    uintptr_t sp, pc; /* not set while it runs */
};

/* From /proc/TID/syscall; needs the right to trace the thread. */
bool task_call(pid_t tid, struct task_call *out);

/* From /proc/TID/schedstat. */
bool task_sched(pid_t tid, struct off_sched *out);
/* Like task_sched, from an open descriptor, whose file offset does not matter. */
bool task_sched_read(int fd, struct off_sched *out);

/* The number after `name` in /proc/TID/status: "Tgid", "TracerPid", "Uid" (the real one). */
long task_status(pid_t tid, const char *name);
/* Whether its process is the first of a pid namespace. */
bool task_is_first(pid_t tid);
/* Whether the process has a handler for that signal. False also when this is unknown. */
bool task_catches(pid_t tid, int sig);
/* Whether it ignores that signal, by its own setting or by default. */
bool task_ignores(pid_t tid, int sig);
/* State letter and flags (PF_*) of /proc/TID/stat. */
bool task_state(pid_t tid, char *state, unsigned long *flags);
/* Time since it began, to 10 ms; 0: not known. */
uint64_t task_age_ns(pid_t tid);
/* Number of its page faults since it began: minflt and majflt of /proc/TID/stat. */
bool task_faults(pid_t tid, uint64_t *n);
/* Whether it runs a 32-bit program, whose system calls have other numbers. False also when
 * its file may not be read. */
bool task_is_32bit(pid_t pid);
/* Whether one of its descriptors has this link text. */
bool task_has_file(pid_t pid, const char *name);
/* Its name, without a newline. A loader that runs a program has that program's name. */
bool task_comm(pid_t tid, char comm[16]);

/* Parse the text of /proc/TID/syscall and of /proc/TID/schedstat. False: the text has another form.
 */
bool task_call_parse(const char *text, struct task_call *out);
bool task_sched_parse(const char *text, struct off_sched *out);

/* Reads the start of /proc/TID/WHAT as a string. Its length, or -1. */
ssize_t task_read(pid_t tid, const char *what, char *buf, size_t size);

#endif
