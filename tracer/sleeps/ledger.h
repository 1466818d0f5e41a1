/*
 * ledger.h: where all of a thread's time goes.
 *
 * From its beginning in the trace to its end there, each moment of a thread is one of: asleep
 * in a call, waiting for a CPU, on a CPU, stopped by the tracer, stopped by job control, or what
 * is left: waiting for a page, or in something that is not a call that is traced. The first five
 * are measured; the sixth is the difference to the clock, so that nothing is lost. Where less than
 * LEDGER_NOISE_NS is left of a stretch between two events, that is the error with which the tracer
 * knows its own stops, and it is counted with them. With a source that stops nobody all that is
 * left is sleeps that nobody looked at.
 *
 * Only the state machine uses it (machine.h); not thread-safe.
 */
#ifndef FLAME_TRACER_SLEEPS_LEDGER_H
#define FLAME_TRACER_SLEEPS_LEDGER_H

#include "tracer/sleeps/sink.h"

#define LEDGER_NOISE_NS 50000u

struct ledger {
    uint64_t upto; /* all time before is accounted for */
    /* Of the time since then: */
    uint64_t held_ns;                /* stopped by the tracer, */
    uint64_t held_more_ns;           /* and perhaps so much longer, */
    uint64_t stops;                  /* in so many stops that have ended */
    uint64_t short_ns;               /* in calls too short to be looked at */
    uint64_t stopped_ns;             /* by job control */
    struct off_span room;            /* waiting until the tracer had read what it noted */
    struct off_unlooked unlooked;    /* asleep, where nobody looked */
    uint64_t faults;                 /* pages asked for, when it was last looked at */
    struct off_span rest[OFF_RESTS]; /* not reported yet */
};

/* A stretch of time, by what it was. The parts are together as long as the stretch. */
struct ledger_parts {
    uint64_t held_ns, stopped_ns, cpu_ns, runq_ns;
    uint64_t left_ns;
};

/* Splits the stretch [from, to) by what is known of it. Figures that together are more than the
 * stretch are cut, the least certain first: the wait for a CPU, then the stops, since when a thread
 * stands being an estimate. */
struct ledger_parts ledger_split(uint64_t from, uint64_t to, uint64_t held_ns, uint64_t stopped_ns,
                                 const struct off_sched *sched);
/* The thread left its CPU by stops only, which may have taken `more_ns` longer than was estimated:
 * then what is left is of them. */
void ledger_hold_left(struct ledger_parts *p, uint64_t more_ns);
void ledger_add_span(struct off_span *to, const struct off_span *s);
/* Adds a piece of this kind to what is left. */
void ledger_add(struct ledger *l, enum off_rest kind, uint64_t ns);
/* Adds what is left of a stretch as sleeps that were left out, as far as calls took it that were
 * too short. */
void ledger_leave_out(struct ledger *l, struct ledger_parts *p);
/*
 * Adds what is left of a stretch outside of sleeps, in which the thread was put on a CPU `turns`
 * times. Once is the way out of the last stop: then it did not sleep (a hypervisor took its CPU
 * away, say). If it slept and had asked for a page, that is taken for what it slept in. Whether the
 * kernel counts the fault as one that waited (majflt) says less: those of userfaultfd it does not.
 */
void ledger_add_left(struct ledger *l, const struct off_world *world, pid_t tid, uint64_t ns,
                     uint64_t turns);
/* Adds what is left of a stretch as waits for room in a ring, as far as these took it. */
void ledger_wait_for_room(struct ledger *l, struct ledger_parts *p);
/* Of a source that stops nobody: what it tells of sleeps it did not look at; and adds what is left
 * of a stretch by that. What it did not tell of is taken for short sleeps. */
void ledger_note_unlooked(struct ledger *l, const struct off_unlooked *u);
void ledger_add_unlooked(struct ledger *l, uint64_t ns);
/* Gives the sink what it has not been given. */
void ledger_report(struct ledger *l, const struct off_sink *sink, pid_t tid);

#endif
