/*
 * time_account.h: the account of all of a thread's time.
 *
 * From its beginning in the trace to its end there, each moment of a thread is one of: asleep in a
 * call, in the run queue, on a CPU, stopped by the tracer, stopped by job control, or the rest:
 * waiting for a page, or in something that is not a traced call. The first five are measured; the
 * sixth is the difference to the clock, so that no time is lost. A rest below TIME_ACCOUNT_NOISE_NS
 * between two events is within the error of the tracer's own stops, and is counted with them. With
 * a source that stops no thread the rest is sleeps that were not sampled.
 *
 * Only the state machine uses it (offcpu_state.h); not thread-safe.
 */
#ifndef FLAME_TRACER_OFFCPU_TIME_ACCOUNT_H
#define FLAME_TRACER_OFFCPU_TIME_ACCOUNT_H

#include "tracer/offcpu/sink.h"

#define TIME_ACCOUNT_NOISE_NS 50000u

struct time_account {
    uint64_t upto; /* all time before is accounted for */
    /* Parts of the time since `upto`: */
    uint64_t held_ns;                      /* stopped by the tracer */
    uint64_t held_more_ns;                 /* upper bound of the stopped time beyond held_ns */
    uint64_t stops;                        /* number of stops that have ended */
    uint64_t short_ns;                     /* in calls too short to be measured */
    uint64_t stopped_ns;                   /* stopped by job control */
    struct off_span room;                  /* waiting until the tracer had read the ring */
    struct off_unsampled unsampled;        /* asleep, and not sampled */
    uint64_t faults;                       /* page faults at the last reading */
    struct off_span rest[OFF_OTHER_TIMES]; /* not reported yet */
};

/* Parts of a stretch of time; their sum is its length. */
struct time_account_parts {
    uint64_t held_ns, stopped_ns, cpu_ns, runq_ns;
    uint64_t left_ns;
};

/* Splits the stretch [from, to) by the figures for it. Figures that together exceed the stretch are
 * cut, the least certain first: the run-queue wait, then the stops, because the start of a stop is
 * an estimate. */
struct time_account_parts time_account_split(uint64_t from, uint64_t to, uint64_t held_ns,
                                             uint64_t stopped_ns, const struct off_sched *sched);
/* Moves the rest to the stops. For a thread that left its CPU by stops only, which may have taken
 * `more_ns` longer than was estimated. */
void time_account_hold_left(struct time_account_parts *p, uint64_t more_ns);
void time_account_add_span(struct off_span *to, const struct off_span *s);
/* Adds a piece of this kind to the spans that time_account_report emits. */
void time_account_add(struct time_account *l, enum off_other_time kind, uint64_t ns);
/* Counts the rest of a stretch as filtered out, up to the time in calls that were too short. */
void time_account_leave_out(struct time_account *l, struct time_account_parts *p);
/*
 * Adds the rest of a stretch outside of sleeps, in which the thread was put on a CPU `turns` times.
 * One turn is the way out of the last stop: the thread did not sleep then (a hypervisor took its
 * CPU away, say). If it slept and had a page fault, the rest counts as a wait for that page. The
 * kernel's count of faults that waited (majflt) proves less: it does not count those of
 * userfaultfd.
 */
void time_account_add_left(struct time_account *l, const struct offcpu_ops *world, pid_t tid,
                           uint64_t ns, uint64_t turns);
/* Counts the rest of a stretch as waits for room in a ring, up to the recorded waits. */
void time_account_wait_for_room(struct time_account *l, struct time_account_parts *p);
/* For a source that stops no thread. time_account_note_unsampled adds the unsampled sleeps that the
 * source reports. time_account_add_unsampled adds the rest of a stretch by them; time that the
 * source does not report counts as short sleeps. */
void time_account_note_unsampled(struct time_account *l, const struct off_unsampled *u);
void time_account_add_unsampled(struct time_account *l, uint64_t ns);
/* Reports to the sink what was not reported yet. */
void time_account_report(struct time_account *l, const struct offcpu_output *sink, pid_t tid);

#endif
