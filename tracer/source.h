/*
 * source.h: the event source. Launches a command or attaches to processes, follows
 * their threads by ptrace, and tells a client what happens as plain events (event.h).
 *
 * One source a process, in a process that has no other children: it waits for all of
 * them. Leaving a process attached to is ending this process (tracer.h says why); the
 * source is to be drained first (source_leave).
 */
#ifndef FLAME_TRACER_SOURCE_H
#define FLAME_TRACER_SOURCE_H

#include <sys/user.h>

#include "common/passon.h"
#include "tracer/event.h"

struct source;

struct source_options {
    char **argv;       /* to launch; NULL: attach */
    const pid_t *pids; /* to attach to */
    size_t npids;
    pid_t caller;                       /* not to be attached to; its signals are passed on */
    const struct passon_saved *signals; /* what the command is to have */
    uint64_t duration_ns;               /* 0: no limit */
    unsigned hz;
    bool no_filter, no_follow;
};

struct source_client {
    void *arg;
    void (*event)(void *arg, const struct off_event *e);
    void (*beat)(void *arg, uint64_t now); /* between events, about every beat_ns */
    uint64_t beat_ns;
};

/* Never fails. */
struct source *source_new(const struct source_options *o, const struct source_client *c);
void source_free(struct source *s);

/* Attaches, or gets the command ready to run. 0, or an enum flame_exit after a line:
 * then nothing is traced and no program was disturbed. */
int source_start(struct source *s);

/*
 * Tells events until the command has ended, nothing is left to trace, the time is over
 * or a signal ends it. 0, or an enum flame_exit after a line when the command could not
 * be run.
 */
int source_run(struct source *s);

/* Time or a signal ended source_run. */
bool source_over(const struct source *s);
/* After source_run: true when something is still traced. */
bool source_left(const struct source *s);
/* Gets it into a state in which this process may end without anybody noticing. */
void source_leave(struct source *s);
/* True when what is left must not be left, as its calls would fail without a tracer. Then
 * source_nurse keeps it going, telling nothing, to its end. */
bool source_must_stay(const struct source *s);
void source_nurse(struct source *s);

/* The launched command; 0 when there is none. Its status once source_run has returned,
 * unless it runs on. */
pid_t source_command(const struct source *s);
int source_wait_status(const struct source *s);

/* Registers of a traced thread: of its last stop, which are those of now while it stands
 * there or sleeps in a call. Of a thread attached to in a call that must not be
 * interrupted only rip and rsp are known, the rest is 0. */
bool source_regs(struct source *s, pid_t tid, struct user_regs_struct *out);
/* Its beginning was told while it slept in a call, and it has not been stopped since. */
bool source_asleep(struct source *s, pid_t tid);
/* Room for the client's own pointer; NULL at first. NULL when the thread is not traced. */
void **source_user(struct source *s, pid_t tid);

/* Stops so far, and an estimate of what they took from the program. */
uint64_t source_stops(const struct source *s);
uint64_t source_cost_ns(const struct source *s);

uint64_t source_now(void); /* CLOCK_MONOTONIC, ns */

#endif
