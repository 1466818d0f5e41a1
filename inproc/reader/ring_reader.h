/*
 * ring_reader.h: reader of a thread's ring (inproc/ring.h), which does not trust its contents.
 *
 * The ring is in memory that the program can write to at any time, also while it is read. So each
 * word is read once, the reader's position comes from its own memory, and a record is checked after
 * it has been copied. A damaged ring is not repaired: it is given up, with a reason.
 *
 * Not thread-safe for one reader. Allocates (common/alloc.h).
 */
#ifndef FLAME_INPROC_READER_RING_READER_H
#define FLAME_INPROC_READER_RING_READER_H

#include <sys/types.h>

#include "inproc/ring.h"

/* Most nested calls of one thread; with more of them the outermost are dropped. */
#define RINGS_NESTED 16

enum ring_result {
    RING_EMPTY, /* no more records for now */
    RING_ENTERED,
    RING_LEFT,
    RING_MARKER,  /* the program has set a region or a mark: ->region */
    RING_DELAYED, /* the thread has waited for room: ->waited_ns, ->waits */
    RING_DAMAGED, /* the ring is given up; ->damage is the reason */
};

struct ring_call {
    uint32_t serial; /* the thread's record of its end has the same number */
    int nr;
    uint64_t begin;
    uint64_t args[6];
    uint32_t stack; /* number that `stack` below returned for it; 0: none */
};

struct ring_client {
    void *arg;
    /* Called with a stack of the thread, outermost frame first; the number that it returns
     * represents the stack in later calls. The stack is borrowed. */
    uint32_t (*stack)(void *arg, pid_t tid, const uint64_t *pcs, size_t n);
    /* Called with the name of a function; it replaces the function's id in stacks with what this
     * returns. 0: no functions were asked for, and the ring is damaged; so it is if this is NULL.
     * The name is borrowed. */
    uint64_t (*function)(void *arg, const char *name, size_t len);
};

struct ring_reader {
    struct ring *ring;
    struct ring_control *control;
    uint64_t tail;
    uint64_t given; /* the tail that was published to the thread */
    pid_t pid, tid; /* 0: its first record has not come */
    uint64_t last;  /* time of the previous record */
    bool pending;   /* the previous record is a call that is not over yet, or was not */
    const char *damage;
    bool held;        /* for readers of many rings: the record below has not been emitted yet */
    uint32_t *stacks; /* by id, from 1; owned */
    size_t nstacks, stacks_cap;
    uint64_t *functions; /* by id, from 1; owned */
    size_t nfunctions, functions_cap;
    struct ring_call open[RINGS_NESTED]; /* unfinished calls, the innermost last */
    unsigned nopen;
    /* After RING_ENTERED and RING_LEFT: */
    struct ring_call call;
    uint64_t time;
    /* RING_ENTERED: the call is over and did not sleep, so `result` and `flags` are known. It has
     * no RING_LEFT. */
    bool passed;
    int64_t result; /* RING_LEFT, and calls that have passed */
    uint32_t flags; /* likewise: RING_RAN_ON, RING_PREEMPTED, RING_NOBODY */
    /* RING_MARKER: the name need not end with a NUL, and has none in it. */
    struct {
        enum ring_region what;
        uint32_t len;
        char name[RING_REGION_WORDS(RING_NAME_MAX) * 8];
    } region;
    uint64_t waited_ns, waits; /* RING_DELAYED: at most the time since the last such record */
    /* RING_ENTERED, and RING_LEFT of an open: memory that arguments of the call pointed to,
     * `nmemory` words: pieces, one after the other, each its address, its number of bytes, and the
     * bytes, padded to whole words. */
    size_t nmemory;
    uint32_t memory_of; /* serial number of the call */
    uint32_t pieces;    /* number of pieces since the last call began */
    uint64_t memory[RING_PIECES * (RING_MOST_WORDS - 1)];
    uint64_t record[RING_MOST_WORDS];
};

/* Begins to read the ring of its next owner. `ring` and `control` are borrowed. */
void ring_reader_init(struct ring_reader *r, struct ring *ring, struct ring_control *control);
void ring_reader_release(struct ring_reader *r);

/*
 * Reads on to the next call that begins or ends, to a region or a mark of the program, or to a wait
 * for room. The end of a call that did not sleep, but was not over when its beginning was read, has
 * the time of the beginning, because later records have been emitted. Records from the future are
 * damage, and so are times that decrease; `now` is a time that has passed. Ends of dropped calls
 * are skipped.
 */
enum ring_result ring_next(struct ring_reader *r, uint64_t now, const struct ring_client *client);

/* Whether a call that was entered, is emitted next and had not passed, has passed by now. */
bool ring_passed(struct ring_reader *r);

/* Frees the room of all records that were read, and wakes the thread if it waits for that. */
void ring_give_room(struct ring_reader *r);

#endif
