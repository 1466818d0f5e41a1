/*
 * lockframes.h: functions that wait for a lock.
 *
 * A futex inside a lock identifies it by its name. Many locks have no futex of their own: a
 * thread that waits for a Java monitor, a lock of CPython 3.13, of Rust's parking_lot or of
 * WebKit sleeps on a condition variable, a semaphore or a word that belongs to the sleeper, on
 * its stack as a rule. The lock itself is a word or an object that no system call ever names.
 * Only the functions that wait show what such a wait is for; they are in the one table of
 * lockframes.c.
 *
 * A name is that of a function as frames have it, with or without the arguments of C++ and
 * annotations like "_[j]" behind it. Pure functions, thread-safe.
 */
#ifndef FLAME_FOLD_STACKS_LOCKFRAMES_H
#define FLAME_FOLD_STACKS_LOCKFRAMES_H

#include <stdbool.h>
#include <stddef.h>

enum lock_says {
    LOCK_SAYS_NOTHING,
    LOCK_TAKES,   /* it waits for a lock */
    LOCK_PARKS,   /* it waits for a lock, unless a function further out is LOCK_WAITS */
    LOCK_WAITS,   /* it waits for something else: an event, work, the end of a thread */
    LOCK_UNTOLD,  /* for a lock or something else: only a function further out can tell */
    LOCK_GREEN,   /* a scheduler of green threads, whose waits for locks are not visible */
    LOCK_RUNTIME, /* tells nothing about waiting: it belongs to a language's runtime */
};

struct lock_frame {
    const char *name; /* beginning of the function's name; after a '*': any part of it */
    enum lock_says says;
    const char *lock; /* LOCK_TAKES, LOCK_PARKS: "Java monitor"; LOCK_UNTOLD, LOCK_GREEN: the
                         primitive that waits so, as in "Java's LockSupport" */
};

/* The first row of the table that fits, or NULL. */
const struct lock_frame *lock_frame_find(const char *name, size_t len);

/* How far out from the call the functions that wait for a lock are sought, inlined ones counted:
 * the C library, the runtime's semaphore, its lock, the function that takes it. */
#define LOCK_FRAMES_REACH 16

/*
 * The joint result of a wait's functions, which are added one by one, innermost first:
 *
 *    struct lock_search s = {0};
 *    while (... && !lock_search_add(&s, name, len)) ...;
 *    s.says, s.lock
 */
struct lock_search {
    enum lock_says says; /* never LOCK_RUNTIME */
    const char *lock;
    unsigned frames; /* added so far */
    unsigned at;     /* which of them decided: 1 is the first */
};

/* Adds a function. True: the result is final, and no function further out can change it. */
bool lock_search_add(struct lock_search *s, const char *name, size_t len);
/* Like lock_search_add, where the caller has the result of lock_frame_find for the name: `row`. */
bool lock_search_take(struct lock_search *s, const struct lock_frame *row, const char *name,
                      size_t len);

#endif
