/*
 * chain.h: who woke whom, and who had woken them.
 *
 * A wake is what is known of a waking call at the moment it is made: the thread, its
 * stack, when its own last sleep ended and by whose wake. It never changes and is
 * shared, by count, by all whom it may have woken. A wake remembers at most
 * OFF_CHAIN_MAX links of the past, so that history does not pile up.
 *
 * The chain of a sleep (of each part of one that turns.h splits) goes from its waker to that
 * thread's own last sleep (struct past says which that is), if that ended inside the first sleep;
 * to who ended that, and so on while each such sleep ended inside the first one. It ends before a
 * thread that is in it already (or is the sleeper): no circles. Where it ends with a timer, a disk
 * or the like, the link has the stack of the sleep that ended so: what the holder of a lock did
 * meanwhile.
 */
#ifndef FLAME_TRACER_SLEEPS_CHAIN_H
#define FLAME_TRACER_SLEEPS_CHAIN_H

#include "tracer/sleeps/sink.h"

struct wake;

/* The last sleeps of a thread that other threads ended, latest first: turns.h. */
#define TURNS_KEPT 8

struct turns {
    struct turn *turn[TURNS_KEPT]; /* NULL: none, and none behind it */
};

struct link {
    struct off_waker who;
    uint64_t slept_until; /* when the last sleep of `who` before this wake ended; 0: it had none */
};

struct wake {
    unsigned refs;
    bool hangup;   /* it closes or shuts down */
    uint64_t time; /* entry of the waking call */
    pid_t pid;
    struct wake *other; /* with another past, for sleeps that this one is too old for; or NULL */
    struct turns turns; /* of its thread; none in a wake that a turn keeps */
    size_t n;           /* links used, at least 1: [0] is the waker */
    struct link links[];
};

struct slept {
    uint64_t begin, end; /* end 0: none */
    struct wake *by;     /* NULL: not known */
    off_stack stack;     /* with the call's frame; 0: not known */
};

/*
 * What one thread slept before. A moment's sleep does not hide a long one just before it: a
 * compiler driver that waited a second for the compiler and then 50 us for the disk to
 * remove a file was kept by the compiler.
 */
struct past {
    struct slept last;   /* the last that counted */
    struct slept weight; /* the last that weighed anything; often the same */
    struct turns turns;
};

/* A wake made by `who` at `time`, whose own past is `past`; `depth` links at most. */
struct wake *wake_new(const struct off_waker *who, pid_t pid, uint64_t time,
                      const struct past *past, unsigned depth);
/* The same wake without its turns. The caller gets a new reference. */
struct wake *wake_without_turns(struct wake *w);
struct wake *wake_ref(struct wake *w);
void wake_unref(struct wake *w); /* NULL: nothing */

/* One more sleep. Takes s->by over (its reference is the past's from now on). */
void past_add(struct past *p, const struct slept *s);
void past_clear(struct past *p);

/* Whether the thread `tid` is the sleeper, or in s->chain already. */
bool chain_has(const struct off_sleep *s, pid_t tid);
/* Adds to s->chain what `by` (NULL: nobody) says of a sleep from s->begin on. s->tid is set. */
void chain_add(struct off_sleep *s, const struct wake *by, unsigned depth);

#endif
