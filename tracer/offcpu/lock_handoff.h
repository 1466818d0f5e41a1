/*
 * lock_handoff.h: the threads that held a lock or the like, one after another, while a thread
 * waited for it.
 *
 * A thread that ends another's wait may not be the one that caused the wait: it may have got the
 * lock a moment ago, from a thread that had held it for long while both waited. So each thread has
 * a list of its last sleeps that other threads ended. Each entry has the sleep's waker, the waker
 * of that thread's own wait for the same object, and so on. That is a holding (struct holding). It
 * begins when the thread gets the object. A later wait that this thread ends is split where its
 * holding began. The thread caused the part after that; the holder before it caused the part
 * before.
 *
 * Two waits are for the same thing if they are on the same object. Some futexes belong to the
 * waiter instead (the locks of Java, Python and Rust's parking_lot: one for each waiter, which the
 * thread that hands the lock over wakes). Such waits count as alike if their innermost frames are
 * at the same places in the code. That may also match two different locks. So the part before then
 * has both in its chain: the waker, and the thread that the waker waited for. That is true in
 * either case. Sets of semaphores are handled in the same way.
 *
 * A holding never changes and is shared, by a reference count. It has at most HOLDINGS_KEPT
 * threads, and their wakes without the holdings of those, which bounds the history.
 */
#ifndef FLAME_TRACER_OFFCPU_LOCK_HANDOFF_H
#define FLAME_TRACER_OFFCPU_LOCK_HANDOFF_H

#include "tracer/offcpu/chain.h"

/* One thread's time as the holder. */
struct holding_span {
    uint64_t until;  /* time at which the waiter got the object */
    struct wake *by; /* wake by the thread that held it before */
    bool same;       /* the wait that began the holding was on the same object as the later one */
};

struct holding {
    unsigned refs;
    struct off_object object;
    unsigned roles; /* wake_direction_of_sleep() of the call that waited */
    uint32_t like;  /* number of the wait's stack (offcpu_ops.likeness); 0: unknown */
    size_t n;       /* at least 1 */
    struct holding_span
        held[HOLDINGS_KEPT]; /* latest first: [0] is the waker of the sleep itself */
};

/* Part of a sleep in which one thread held the object. */
struct holding_part {
    uint64_t begin; /* it ends where the part before it in the array begins */
    uint64_t blocked_ns;
    size_t held; /* index of the holder in holding.held */
};

/* Whether the sleep was for an object that one thread holds after another, and that the sleeper
 * holds now. */
bool holding_is_of(const struct off_sleep *s);

/* The holding that begins when this wake ends this sleep. */
struct holding *holding_new(const struct off_sleep *s, uint32_t like, struct wake *by);
void holding_unref(struct holding *holding); /* NULL: does nothing */

/* Splits the sleep into parts, the latest first, and returns their number. Their blocked_ns sum up
 * to the sleep's. A part that is small beside the sleep belongs to the one after it; the latest
 * always exists. */
size_t holding_split(const struct holding *holding, const struct off_sleep *s,
                     struct holding_part part[HOLDINGS_KEPT]);
/* Fills s->chain for the part. s->begin is the part's. */
void holding_fill_chain(const struct holding *holding, const struct holding_part *part,
                        struct off_sleep *s, unsigned depth);

/* Adds the holding as the latest. Takes over the reference. */
void holdings_add(struct holdings *held, struct holding *holding);
void holdings_copy(struct holdings *to, const struct holdings *from);
void holdings_clear(struct holdings *held);

#endif
