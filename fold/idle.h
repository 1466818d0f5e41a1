/*
 * idle.h: sleeps of threads that only wait for work.
 *
 * A thread waits for work at a stack if all of this holds:
 *
 *  - at least nine tenths of its sleep in the trace is in calls from this one
 *    stack (without the call's own frame, which names the object)
 *
 *  - the call waits for something to come in or for time to pass: epoll, poll, select,
 *    nanosleep, sigwait, a read, recv or accept of a socket, pipe, queue or terminal
 *
 *  - or it waits on a condition variable or a queue's semaphore: a futex under a function
 *    whose name says so (pthread_cond_*, cnd_wait, sem_wait), unless that is how a runtime
 *    waits for a lock (lockframes.h). Any other futex may be a lock that another thread holds,
 *    and such a wait is never idle.
 *
 * The first condition separates a worker from a thread that does something and also waits; all
 * other sleep of a thread is kept. Waits for files on disks, for children and for file locks are
 * never idle.
 */
#ifndef FLAME_FOLD_IDLE_H
#define FLAME_FOLD_IDLE_H

#include "common/trace/trace_reader.h"
#include "fold/symbolize.h"

struct idle;

/* Limits for proposing --idle. Idle sleeps hide the others if they are at least so many
 * nanoseconds and so large a part of all waiting, and the others are at least IDLE_REST_NS. */
#define IDLE_MUCH_NS 500000000u
#define IDLE_MUCH_PERCENT 50
#define IDLE_REST_NS 1000000u

/* Finds which sleeps of an off-CPU trace are idle. `frames` is of the same trace. */
struct idle *idle_new(const struct trace *t, struct symbolizer *frames);
void idle_free(struct idle *idle);

/* Whether this row's sleeps are idle. */
bool idle_row(const struct idle *idle, const struct trace_row *row);

/* The number of threads with such sleeps. Appends the names of those with the longest such
 * sleep, each once, with the number of its threads ("40 postgres, pgbench"). */
size_t idle_threads(const struct idle *idle, struct strbuf *names);

/* Nanoseconds of all such sleeps. */
uint64_t idle_slept(const struct idle *idle);

#endif
