/*
 * kept_chain.h: the frames of Python that the calling thread runs, with their functions' names,
 * kept from one event to the next.
 *
 * One for each thread; no lock, no malloc. The guard is held at GUARD_RECORDING.
 */
#ifndef FLAME_UNWIND_PYTHON_KEPT_CHAIN_H
#define FLAME_UNWIND_PYTHON_KEPT_CHAIN_H

#include "unwind/python/chain_ids.h"
#include "unwind/python/pynames.h"

/* A frame of the chain. */
struct pylink {
    uintptr_t frame;    /* _PyInterpreterFrame */
    uintptr_t code;     /* its word that leads to the code object, with tags */
    uintptr_t mark;     /* an address in the native frame of the loop that runs it; 0: not known */
    struct pycode name; /* of its function; pc 0: it has none */
    uint32_t id;        /* of the chain from the outermost frame to this one */
    bool entry;         /* the outermost one of its native frame */
};

/* All zero at first; in pages. */
#define KEPT_CHAIN_SLOTS 256u
struct kept_chain {
    struct pylink *links; /* outermost first */
    uint32_t n, cap;
    uint32_t id;          /* of all links; CHAIN_IDS_NONE: not known */
    uint32_t base;        /* number that the ids of all links depend on */
    struct pylink *fresh; /* those of the reading in progress, innermost first */
    uint32_t fresh_n, fresh_cap;
    uint32_t slots[KEPT_CHAIN_SLOTS]; /* numbers of links by their frames' addresses, perhaps of
                                         others */
    uint32_t changes, trace;          /* of the pages and the trace that the links are of */
    struct pypages pages;
    struct pycodes codes;
    struct chain_ids ids;
};

/* Limit of frames. A longer chain has no links. */
#define KEPT_CHAIN_MOST (1u << 20)

/*
 * Brings the links up to date, and returns the chain's id under `base`; 0: the thread runs no
 * Python, and the links are out of date. Two chains with the same id have equal names at equal
 * marks. An invalid frame ends the chain, and what is further out is not in it.
 */
uint32_t kept_chain_follow(struct kept_chain *c, const struct python *py, uint32_t base);

/* Reads the chain again, with nothing kept, and compares (a test mode). False: there is a
 * difference. */
bool kept_chain_is_right(struct kept_chain *c, const struct python *py, uint32_t base);

#endif
