/*
 * chain.h: wakes, and the chain of a sleep: its waker, that thread's own waker, and so on.
 *
 * A wake is the record of a waking call at the moment it is made: the thread, its stack, when its
 * own last sleep ended and by which wake. It never changes. All sleeps that it may have ended share
 * it by a reference count. A wake has at most OFF_CHAIN_MAX links, which bounds the history.
 *
 * The chain of a sleep (or of a part of one that lock_handoff.h splits) begins with its waker. The
 * next link is the waker of that thread's own last sleep (struct past selects it), if that ended
 * inside the first sleep. More links follow while each such sleep ended inside the first one. The
 * chain ends before a thread that is already in it (or is the sleeper), so it has no circles. If it
 * ends with a timer, a disk or the like, that link has the stack of the sleep that ended so. That
 * shows what the holder of a lock did meanwhile.
 */
#ifndef FLAME_TRACER_OFFCPU_CHAIN_H
#define FLAME_TRACER_OFFCPU_CHAIN_H

#include "tracer/offcpu/sink.h"

struct wake;

/* The last sleeps of a thread that other threads ended, latest first (lock_handoff.h). */
#define HOLDINGS_KEPT 8

struct holdings {
    struct holding *list[HOLDINGS_KEPT]; /* NULL: no more holdings */
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
    struct wake *other;   /* copy with a later past, for sleeps begun after slept_until; or NULL */
    struct holdings held; /* holdings of its thread; none in a wake that a holding stores */
    size_t n;             /* links used, at least 1: [0] is the waker */
    struct link links[];
};

struct slept {
    uint64_t begin, end; /* end 0: none */
    struct wake *by;     /* NULL: not known */
    off_stack stack;     /* with the call's frame; 0: not known */
};

/*
 * Earlier sleeps of one thread. A short sleep does not hide a long one just before it. Example: a
 * compiler driver waited a second for the compiler, then 50 us for the disk to remove a file. Its
 * delay belongs to the compiler.
 */
struct past {
    struct slept last;   /* the last sleep that counted */
    struct slept weight; /* the last sleep that was long enough to matter; often the same one */
    struct holdings held;
};

/* A wake made by `who` at `time`, whose own past is `past`; `depth` links at most. */
struct wake *wake_new(const struct off_waker *who, pid_t pid, uint64_t time,
                      const struct past *past, unsigned depth);
/* A reference to the wake, or to a copy of it, without its holdings. */
struct wake *wake_without_holdings(struct wake *w);
struct wake *wake_ref(struct wake *w);
void wake_unref(struct wake *w); /* NULL: does nothing */

/* Adds a sleep. Takes over the reference s->by. */
void past_add(struct past *p, const struct slept *s);
void past_clear(struct past *p);

/* Whether the thread `tid` is the sleeper, or already in s->chain. */
bool chain_has(const struct off_sleep *s, pid_t tid);
/* Adds to s->chain the links of `by` (NULL: no known waker) for a sleep from s->begin on. s->tid is
 * set. */
void chain_add(struct off_sleep *s, const struct wake *by, unsigned depth);

#endif
