/*
 * python_waits.h: functions of Python in stacks that threads log themselves.
 *
 * The interpreter's frames are read as in libflamemem.so (unwind/python/kept_chain.h). A name is
 * logged once for each owner of a ring (RING_FUNCTION), before the first stack that has it.
 *
 * For the thread that is busy in the library (call_log.h); vector registers must have been saved.
 */
#ifndef FLAME_INPROC_LIB_PYTHON_WAITS_H
#define FLAME_INPROC_LIB_PYTHON_WAITS_H

#include "patch/patcher.h"
#include "unwind/local.h"
#include "unwind/python/kept_chain.h"

/* Functions of one thread; in pages. */
struct python_waits;

/* Searches the modules for an interpreter. For the start. */
void python_waits_init(void);

/* Searches modules that the stack came through, and that were loaded since. */
void python_waits_look(const struct local_stack *s);

/* Whether there is an interpreter. */
bool python_waits_found(void);

/* The call may unmap memory that the interpreter's was in. To be called before it. */
void python_waits_see(const struct patch_call *call);

/* Another thread owns *w now. */
void python_waits_pass_on(struct python_waits *w);

/* In a forked child, before anything else. */
void python_waits_after_fork(void);

/* Follows the calling thread's chain; *w is made when it is first needed. The chain's id; 0: it
 * runs no Python; CHAIN_IDS_NONE: it has no id, and its stacks must not be recognised. */
uint32_t python_waits_follow(struct python_waits **w);

/*
 * Merges the frames of a walk that did not fall back, and the functions of the chain. *words is
 * valid until the next call, outermost first; a function has RING_IS_FUNCTION and its number in the
 * process. Returns the number of words; 0: there are more than `most`.
 */
uint32_t python_waits_merge(struct python_waits *w, const struct local_stack *s, uint32_t most,
                            uint64_t **words);

/* The first of the n words that is a function whose name the ring does not have; 0: it has all. */
uint64_t python_waits_unlogged(struct python_waits *w, const uint64_t *words, uint32_t n);

/* Copies the function's name, padded with zeros to a word; at most RING_FUNCTION_MAX bytes. Returns
 * its length. */
uint32_t python_waits_name(uint64_t function, uint64_t *to);

/* Gives the function its id in the ring, and returns that. 0: there is no memory. Vector registers
 * need not have been saved for this and the others. */
uint32_t python_waits_log(struct python_waits *w, uint64_t function);

/* The id of a function that the ring has. */
uint32_t python_waits_id(const struct python_waits *w, uint64_t function);

#endif
