/*
 * turns.h: who had a thing while a thread waited for it, one after another.
 *
 * A thread that ends another's wait need not be who kept it: it may have got the lock a moment
 * ago, from one that had it for long while both waited. So of the last sleeps of a thread that
 * other threads ended, each is kept with who ended it and who had ended that one's wait for the
 * same thing, and so on: a turn. A later wait that this thread ends is split where its turn
 * began: it is to blame for what came after, the one before for what came before.
 *
 * Two waits are for the same thing if they are on the same object. Of futexes there are also
 * those that belong to the waiter (the locks of Java, Python and Rust's parking_lot: one
 * each, told to go on by whoever hands the lock over). Such waits are taken for alike if their
 * innermost frames are at the same places in the code. That can also be said of two different
 * locks; so the part before then has both in its chain, the one who ended the wait and whom that
 * one waited for, which is true in either case. The same is done for sets of semaphores.
 *
 * A turn never changes and is shared, by count. It keeps at most TURNS_KEPT threads, and their
 * wakes without the turns of those, so that history does not pile up.
 */
#ifndef FLAME_TRACER_SLEEPS_TURNS_H
#define FLAME_TRACER_SLEEPS_TURNS_H

#include "tracer/sleeps/chain.h"

/* Somebody's turn. */
struct turn_held {
    uint64_t until;  /* when the waiter got what it waited for */
    struct wake *by; /* whose turn it was before */
    bool same;       /* the wait that began the turn was on the same object as the later one */
};

struct turn {
    unsigned refs;
    struct off_object object;
    unsigned roles;                    /* of the call that waited */
    uint32_t like;                     /* likeness of the stack that waited; 0: not known */
    size_t n;                          /* at least 1 */
    struct turn_held held[TURNS_KEPT]; /* latest first: [0] is who ended the sleep itself */
};

/* A part of the sleep that a turn ends. */
struct turn_part {
    uint64_t begin; /* it ends where the part before it in the array begins */
    uint64_t blocked_ns;
    size_t held; /* who had the thing then */
};

/* Whether the sleep was for something that one thread has after another, and which it now has. */
bool turn_is_of(const struct off_sleep *s);

/* The turn that begins with the end of this sleep by that wake. */
struct turn *turn_new(const struct off_sleep *s, uint32_t like, struct wake *by);
void turn_unref(struct turn *turn); /* NULL: nothing */

/* Splits the sleep into parts, the latest first, and returns how many. Their blocked_ns sum up to
 * the sleep's. Parts that are small beside the sleep belong to the one after them; the latest is
 * always there. */
size_t turn_parts(const struct turn *turn, const struct off_sleep *s,
                  struct turn_part part[TURNS_KEPT]);
/* Fills s->chain for the part. s->begin is the part's. */
void turn_fill_chain(const struct turn *turn, const struct turn_part *part, struct off_sleep *s,
                     unsigned depth);

/* Takes `turn` over as the latest. */
void turns_add(struct turns *turns, struct turn *turn);
void turns_copy(struct turns *to, const struct turns *from);
void turns_clear(struct turns *turns);

#endif
