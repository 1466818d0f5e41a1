/*
 * event.h: plain events of traced threads.
 *
 * Three event sources make events: tracer/ptrace/ (the only folder that knows ptrace),
 * tracer/inproc/ (from calls that threads log) and tracer/nostop/ (from samples of sleepers). The
 * state machine (offcpu.h) handles them. Events of one thread come in the order in which they
 * happened. Those of several threads come in the order in which the source learned of them.
 */
#ifndef FLAME_TRACER_OFFCPU_EVENT_H
#define FLAME_TRACER_OFFCPU_EVENT_H

#include <stdbool.h>
#include <sys/types.h>

#include "common/compiler.h"

enum off_event_kind {
    /* A thread is traced from here on. `newborn`: it was made just now (clone); else it existed
     * before. */
    OFF_THREAD_BEGIN,
    OFF_THREAD_END, /* it has ended, or is not traced any more; result: its wait status */
    OFF_EXITING,    /* it is about to end and its stack can still be read; result as above */
    OFF_EXEC,   /* the process runs another program. Its other threads have ended before; the end of
                   parent_tid, the thread's id until now, comes after this */
    OFF_ENTRY,  /* entered a system call: nr, args */
    OFF_EXIT,   /* left the call it is in: nr (of the entry), result */
    OFF_SIGNAL, /* a signal is about to be delivered: nr = signal, code, sender */
    OFF_STOPPED, /* job control stopped it */
    OFF_CONTINUED,
    OFF_SAMPLE,    /* it runs, and is stopped for a moment so that its stack can be read */
    OFF_UNSAMPLED, /* it has slept since its last event without being sampled: `unsampled` */
};

/* Result of OFF_EXIT from a source that does not see results: neither an error, nor the end of a
 * file, nor a timeout. */
#define OFF_RESULT_NOT_KNOWN 1

struct arg_copy; /* arg_copy.h */

/* Time spent in pieces. */
struct off_span {
    uint64_t ns;
    uint64_t longest_ns; /* of a piece */
    uint64_t times;      /* number of pieces */
};

/* Sleeps of which a source knows only that they happened. */
struct off_unsampled {
    struct off_span too_short; /* too short to be sampled */
    struct off_span too_late;  /* over before they could be sampled */
    struct off_span faults;    /* outside of calls: waits for pages */
};

struct off_event {
    enum off_event_kind kind;
    uint64_t time; /* ns, CLOCK_MONOTONIC */
    pid_t tid, pid;
    int nr;                /* system call number of the native ABI, or signal number */
    uint64_t args[6];      /* OFF_THREAD_BEGIN of a newborn: args[0] = flags of clone(2) */
    int64_t result;        /* as the kernel returned it: negative errno on failure */
    bool attached_in_call; /* OFF_ENTRY: it was found asleep in this call, whose entry was not seen
                            */
    bool sampled; /* OFF_ENTRY: it slept in this call from `time` on and was sampled then; nothing
                    else is known of the call */
    bool newborn; /* OFF_THREAD_BEGIN: parent_tid made it */
    bool cannot_block;  /* OFF_ENTRY: the call cannot block; no OFF_EXIT will come */
    bool stayed_on_cpu; /* OFF_EXIT: the thread did not leave its CPU in the call by itself: no
                           sleep */
    bool restarted;     /* OFF_ENTRY: the kernel resumes an interrupted call; nr and args are the
                           original ones */
    pid_t parent_tid;   /* OFF_THREAD_BEGIN: see newborn; OFF_EXEC: the tid it had before, or 0 */
    int code;           /* OFF_SIGNAL: si_code */
    bool caught;        /* OFF_SIGNAL: a handler will run */
    pid_t sender;       /* OFF_SIGNAL: si_pid, 0 when there is none */
    /* Time since the thread's last event, up to `time`, for which the tracer stopped it. Each stop
     * counts from its beginning until the thread was resumed. */
    struct off_span stopped;
    uint64_t stopped_uncertain_ns; /* upper bound of what `stopped` may lack, being an estimate */
    /* Time since its last event in which it waited for the tracer to read its ring
     * (inproc/ring.h). */
    struct off_span room;
    /* OFF_ENTRY: the memory that the arguments point to, as it was. NULL: it is read from the
     * thread, which is stopped there or still in the call. OFF_EXIT: memory that is known only at
     * the exit; `args` are the call's. Borrowed while the event is handled. */
    const struct arg_copy *memory;
    const struct off_unsampled *unsampled; /* OFF_UNSAMPLED; borrowed while the event is handled */
};

/* Scheduler figures of a thread since it began: the numbers of /proc/TID/schedstat. */
struct off_sched {
    uint64_t cpu_ns;  /* on a CPU */
    uint64_t runq_ns; /* runnable, waiting for one */
    uint64_t turns;   /* number of times it was put on a CPU; 0: unknown */
};

#endif
