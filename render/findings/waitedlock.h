/*
 * waitedlock.h: the lock that was waited for most, who held it, and which waits may be for
 * locks and do not say so; from the folded text of the chain view.
 *
 * A wait is one for a lock if
 *   - it is a futex below a function that the table of fold/stacks/lockframes.h knows; the lock
 * goes by the table's name for its kind and by the functions that wanted it, since the futex is the
 * sleeper's own ("Java monitor in Shop.sell < Shop.serve")
 *   - or a futex in one of whose four innermost functions' names there is "lock" (and neither
 *     "block" nor "clock"), as in pthread_mutex_lock, __lll_lock_wait, LWLockAcquire; the lock
 *     is the futex, by its name or by where it lies and those functions
 *   - or another call below a function that acquires a lock by its name.
 * Of two functions that say so the inner one counts.
 *
 * Who held it is who ended the wait; but if that one had been waiting for the same lock
 * until then, it is who ended that, and so on.
 */
#ifndef FLAME_RENDER_FINDINGS_WAITEDLOCK_H
#define FLAME_RENDER_FINDINGS_WAITEDLOCK_H

#include "fold/stacks/lockframes.h"
#include "render/findings/waitedfor.h"

#define LOCK_HOLDERS 3

/* ---- stacks ---- */

/* What is known of names, by where they lie: of names that stay there while it is used. All zeros
 * is an empty one. */
struct waited_memo {
    struct waited_known {
        const char *s;
        size_t len;
        const struct lock_frame *row; /* of the table of fold/stacks/lockframes.h, or NULL */
        bool called_lock;             /* by its name alone */
        bool acquires;                /* and it says that it acquires one */
    } known[8192];
};

/* Frames from the root on, lent. Of deeper stacks the rest is left aside. */
struct waited_frames {
    const char *s[4096];
    size_t len[4096];
    size_t n;
    struct waited_memo *memo; /* NULL: names do not stay where they are */
};

/*
 * Where stacks come from, one by one and any number of times. What `frames` hands out of the one
 * that `next` gave out last is lent until `next` is called again. Deep stacks cost: they are asked
 * for only where their sleepers are not known to wait for no lock, or for another one.
 */
struct waited_stacks {
    /* False: there are no more. */
    bool (*next)(struct waited_stacks *s, uint64_t *us);
    /* All frames, or, without `whole`, at least the sleeper's. */
    void (*frames)(struct waited_stacks *s, struct waited_frames *f, bool whole);
    void (*again)(struct waited_stacks *s); /* from the first one on */
    size_t at;        /* which one `next` gave out last, in terms of its own */
    size_t sleeper;   /* its sleeper's part, below nsleepers: the same number for the same frames */
    size_t nsleepers; /* 0: not known */
};

/* ---- the lock ---- */

struct waited_lock {
    struct waited lock; /* what is NULL: nobody waited for a lock */
    /* Threads (and functions) that had it meanwhile, those first that were waited for longest,
       and how many others, with their sum. Who had it for a twentieth of the time or less is
       not named. */
    struct waited holders[LOCK_HOLDERS];
    size_t nholders;
    size_t more_holders;
    uint64_t more_us;
    struct waited end; /* what a thread further up the chain slept in meanwhile; or NULL */
    /* The largest wait that another thread ended and that may be for a lock: "futex [stack] in
       [app+0x1]"; or NULL. */
    struct waited untold;
    /* The runtime whose own threads take locks without a system call, as in "Go's goroutines",
       and how long the threads that run them had nothing to do; or NULL. */
    struct waited green;
    /* Of the stacks, the one that waited for this lock longest, as waited_stacks says which. */
    size_t stack;
    uint64_t stack_us; /* 0: there is no lock */
};

struct waited_lock waited_lock(const struct strbuf *chain);
/* The same of stacks that come from anywhere; `memo` may be NULL. */
struct waited_lock waited_lock_of(struct waited_stacks *chain, struct waited_memo *memo);
void waited_lock_release(struct waited_lock *l);

/* Appends "futex g_lock, 3.20 s, of that 3.10 s until worker in give_back gave it back", and what
 * stands behind that: "nanosleep of worker in give_back, 3.00 s of it"; false: nothing is known. */
void waited_lock_say(struct strbuf *sb, const struct waited_lock *l);
bool waited_lock_say_end(struct strbuf *sb, const struct waited_lock *l);

/* Appends a name for a line of a terminal: what is longer than 100 bytes loses one end. */
void waited_add_short(struct strbuf *sb, const char *what);

/* ---- one stack ---- */

/* Whether the call in frame `end` - 1 waits for a lock. */
bool waited_is_lock(const struct waited_frames *f, size_t end);

/* Whether frame `i` is a function of the program's own: neither the C library's way to the call in
 * frame `call` nor the runtime's. */
bool waited_is_own(const struct waited_frames *f, size_t i, size_t call);

#endif
