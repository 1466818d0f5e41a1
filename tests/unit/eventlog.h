/*
 * eventlog.h: runs an event source to its end in a process of its own, and collects its events.
 */
#ifndef FLAME_TESTS_UNIT_EVENTLOG_H
#define FLAME_TESTS_UNIT_EVENTLOG_H

#include "tracer/ptrace/source.h"

struct eventlog {
    struct off_event *events;
    size_t n;
    int failed;              /* what source_start or source_run returned */
    int wait_status;         /* of the command */
    int left;                /* something was still traced */
    uint64_t stops, held_ns; /* of all threads */
    pid_t tracer;
};

/* Runs the source; returns when its process has ended, or, if what it traces must not be
 * left, keeps serving what is left. */
void eventlog_run(struct eventlog *log, const struct source_options *o);
void eventlog_free(struct eventlog *log);

/* For tests that do other work meanwhile: start, then collect. */
struct eventlog_running {
    pid_t tracer;
    int fd;
};
struct eventlog_running eventlog_start(const struct source_options *o);
void eventlog_collect(struct eventlog *log, struct eventlog_running r);

/* The i-th (from 0) event of that kind, of system call `nr` unless it is negative; NULL when
 * there are not so many. */
const struct off_event *eventlog_find(const struct eventlog *log, enum off_event_kind kind, int nr,
                                      size_t i);
size_t eventlog_count(const struct eventlog *log, enum off_event_kind kind, int nr);

#endif
