#include "tracer/inproc/schedstat_split.h"

/* Number of times that a thread is put on a CPU in a sleep, about. Below two the state machine
 * takes the thread as not having slept (offcpu.h). */
#define TURNS_OF_A_SLEEP 2

void schedstat_split_read(struct schedstat_split *f, uint64_t now, const struct off_sched *read)
{
    if (!f->known) {
        schedstat_split_settle(f, now, read);
        return;
    }
    f->debt_ns = f->read.cpu_ns > f->given.cpu_ns ? f->read.cpu_ns - f->given.cpu_ns : 0;
    f->each_ns = f->sleeps ? f->debt_ns / f->sleeps : f->debt_ns;
    f->sleeps = 0;
    if (read->cpu_ns >= f->read.cpu_ns && read->runq_ns >= f->read.runq_ns)
        f->read = *read;
    f->before = f->at;
    f->at = now;
}

void schedstat_split_settle(struct schedstat_split *f, uint64_t now, const struct off_sched *read)
{
    *f = (struct schedstat_split){
        .given = *read, .read = *read, .at = now, .before = now, .upto = now, .known = true};
}

uint64_t schedstat_split_turns(const struct schedstat_split *f, uint64_t read)
{
    uint64_t least = f->given.turns + TURNS_OF_A_SLEEP;

    return read && f->known && read < least ? least : read;
}

/* Assigns at most `most` of the unassigned time; returns the part of `most` that was not assigned.
 */
static uint64_t give(uint64_t *given, uint64_t read, uint64_t most)
{
    uint64_t left = read > *given ? read - *given : 0, part = left < most ? left : most;

    *given += part;
    return most - part;
}

/* The share of a sleep in the run-queue wait that is left until the reading. */
static uint64_t share(const struct schedstat_split *f, uint64_t took)
{
    uint64_t left = f->read.runq_ns > f->given.runq_ns ? f->read.runq_ns - f->given.runq_ns : 0;
    uint64_t until = f->at > f->upto ? f->at - f->upto : took;

    if (!left)
        return 0;
    return until > took ? (uint64_t)((double)left * ((double)took / (double)until)) : took;
}

/* Assigns CPU time to a call in which the thread slept: at most half of the call's time, because
 * the thread did sleep. */
static uint64_t give_cpu(struct schedstat_split *f, uint64_t took)
{
    uint64_t part = f->each_ns < f->debt_ns ? f->each_ns : f->debt_ns;

    if (part > took / 2)
        part = took / 2;
    f->debt_ns -= part;
    f->given.cpu_ns += part;
    return part;
}

/* Corrects the debt for the time `ran` between two calls. Time that was read before the stretch was
 * emitted looked like CPU time of calls. */
static void was_no_debt(struct schedstat_split *f, uint64_t ran)
{
    uint64_t early = f->before > f->upto ? f->before - f->upto : 0;

    if (ran > early)
        ran = early;
    f->debt_ns -= ran < f->debt_ns ? ran : f->debt_ns;
}

void schedstat_split_event(struct schedstat_split *f, uint64_t time, bool slept)
{
    uint64_t took = time > f->upto ? time - f->upto : 0, rest;

    if (slept) {
        rest = share(f, took);
        took -= give_cpu(f, took);
        give(&f->given.runq_ns, f->read.runq_ns, rest < took ? rest : took);
        f->sleeps++;
        f->given.turns += TURNS_OF_A_SLEEP;
    } else { /* it would have run if it had a CPU */
        rest = give(&f->given.cpu_ns, f->read.cpu_ns, took);
        was_no_debt(f, took - rest);
        give(&f->given.runq_ns, f->read.runq_ns, rest);
    }
    if (time > f->upto)
        f->upto = time;
}
