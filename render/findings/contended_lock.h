/*
 * contended_lock.h: the lock with the longest waits, its holders, and waits that may be for locks
 * but do not show it; from the folded text of the chain view.
 *
 * A wait is one for a lock if
 *
 *  - it is a futex below a function that the table of fold/stacks/lockframes.h knows; the lock
 *    goes by the table's name for its kind and by the functions that wanted it, since the futex is
 *    the sleeper's own ("Java monitor in Shop.sell < Shop.serve")
 *
 *  - or a futex in one of whose four innermost functions' names there is "lock" (and neither
 *    "block" nor "clock"), as in pthread_mutex_lock, __lll_lock_wait, LWLockAcquire; the lock
 *    is the futex, by its name or by where it lies and those functions
 *
 *  - or another call below a function that acquires a lock by its name.
 *
 * Of two functions that say so the inner one counts.
 *
 * The holder is the thread that ended the wait. If that thread had been waiting for the same
 * lock until then, the holder is the thread that ended its wait, and so on.
 */
#ifndef FLAME_RENDER_FINDINGS_CONTENDED_LOCK_H
#define FLAME_RENDER_FINDINGS_CONTENDED_LOCK_H

#include "fold/stacks/lockframes.h"
#include "render/findings/top_waits.h"

#define LOCK_HOLDERS 3

/* ---- stacks ---- */

/* Cached results about names, by their addresses: the names must stay there while it is used.
 * All zeros is an empty one. */
struct waited_memo {
    struct waited_known {
        const char *s;
        size_t len;
        const struct lock_frame *row; /* of the table of fold/stacks/lockframes.h, or NULL */
        bool called_lock;             /* its name contains "lock", see above */
        bool acquires;                /* its name says that it acquires a lock */
    } known[8192];
};

/* Frames from the root on, borrowed. Further frames of deeper stacks are left out. */
struct waited_frames {
    const char *s[4096];
    size_t len[4096];
    size_t n;
    struct waited_memo *memo; /* NULL: names do not stay where they are */
};

/*
 * Source of stacks, one by one and any number of times. The frames that `frames` returns for the
 * stack that `next` went to are borrowed until `next` is called again. Deep stacks cost: they
 * are requested only where their sleepers are not known to wait for no lock, or for another one.
 */
struct waited_stacks {
    /* Goes to the next stack. False: there are no more. */
    bool (*next)(struct waited_stacks *s, uint64_t *us);
    /* Returns all frames, or, without `whole`, at least the sleeper's. */
    void (*frames)(struct waited_stacks *s, struct waited_frames *f, bool whole);
    void (*again)(struct waited_stacks *s); /* from the first one on */
    size_t at;        /* the stack that `next` went to, in the source's own terms */
    size_t sleeper;   /* its sleeper's part, below nsleepers: the same number for the same frames */
    size_t nsleepers; /* 0: not known */
};

/* ---- the lock ---- */

struct waited_lock {
    struct waited lock; /* what is NULL: no thread waited for a lock */
    /* Threads (and functions) that held it meanwhile, those with the longest waits for them
       first, and the number of others, with their sum. A holder for a twentieth of the time or
       less is not named. */
    struct waited holders[LOCK_HOLDERS];
    size_t nholders;
    size_t more_holders;
    uint64_t more_us;
    struct waited end; /* the wait of a thread further up the chain meanwhile; or NULL */
    /* The largest wait that another thread ended and that may be for a lock: "futex [stack] in
       [app+0x1]"; or NULL. */
    struct waited untold;
    /* The runtime whose own threads take locks without a system call, as in "Go's goroutines",
       and how long the threads that run them had nothing to do; or NULL. */
    struct waited green;
    /* The stack with the longest wait for this lock, as its number in waited_stacks.at. */
    size_t stack;
    uint64_t stack_us; /* 0: there is no lock */
};

struct waited_lock waited_lock(const struct strbuf *chain);
/* Like waited_lock, for stacks from any source; `memo` may be NULL. */
struct waited_lock waited_lock_of(struct waited_stacks *chain, struct waited_memo *memo);
void waited_lock_release(struct waited_lock *l);

/* waited_lock_say appends "futex g_lock, 3.20 s, of that 3.10 s until worker in give_back gave
 * it back". waited_lock_say_end appends the wait further up the chain: "nanosleep of worker in
 * give_back, 3.00 s of it"; false: none is known. */
void waited_lock_say(struct strbuf *sb, const struct waited_lock *l);
bool waited_lock_say_end(struct strbuf *sb, const struct waited_lock *l);

/* Appends a name for a line of a terminal: a name longer than 100 bytes loses one end. */
void waited_add_short(struct strbuf *sb, const char *what);

/* ---- one stack ---- */

/* Whether the call in frame `end` - 1 waits for a lock. */
bool waited_is_lock(const struct waited_frames *f, size_t end);

/* Whether frame `i` is a function of the program's own: it belongs neither to the C library's
 * path to the call in frame `call`, nor to the runtime. */
bool waited_is_own(const struct waited_frames *f, size_t i, size_t call);

#endif
