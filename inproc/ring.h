/*
 * ring.h: the log of one thread's calls, in memory that it shares with the tracer.
 *
 * A ring is a circular buffer of words. The thread writes records and then moves `head`; the reader
 * reads them and moves `tail`, which is in memory that programs can only read (struct
 * ring_control). Both only grow, and count words since the ring was made. So all records before
 * `head` are whole however the thread ends, and no others are read (except for the last word of a
 * RING_CALL, see there). A record is never dropped for lack of room: the thread waits for the
 * reader (ring_wait), and where that is impossible, it makes the call where the filter stops it.
 *
 * Records, all of whole words; the first is ring_word(kind, words, more):
 *
 *     RING_BEGIN  more: pid   the thread's number      the first of each owner
 *     RING_FUNCTION more: id  number of bytes, and the name of a function of an interpreter
 * (Python's), padded with zeros to a word; ids begin at 1 and go up by one RING_STACK  more: id
 * addresses, outermost first; ids begin at 1 and go up by one. A word with RING_IS_FUNCTION is the
 * id of a function that the frame before it runs RING_MEMORY more: serial number of the RING_CALL
 * that follows it address, number of bytes, and the bytes, padded with zeros to a word: memory that
 * an argument of that call pointed to. At most RING_PIECES of one call. For an open it comes before
 * its RING_DONE RING_CALL   more: number of the call time before it, six arguments, id of the stack
 * (0: none) and serial number << 32, and 0, or ring_outcome of the call if it is over and did not
 * sleep RING_DONE   more: flags time after it, result, serial number of its RING_CALL RING_REGION
 * more: enum ring_region | number of bytes of the name << 8 time, and the name, padded with zeros
 * to a word: a region or a mark that the program sets by preload/flamemem.h RING_WAITED more: 0
 *                 time, the ns for which the thread has waited for room since the last such
 *                 record, and the number of waits
 *
 * Most calls never sleep, and only their results are needed. So such a call has no RING_DONE, for
 * which the clock would have to be read: its outcome goes into its RING_CALL. This is done only
 * while that is the last record of the ring: a reader that has read 0 in the word, and then finds
 * another record after it, knows that it stays 0 (ring_pass).
 *
 * Calls nest where a signal handler makes some while the thread is in another. A call that is left
 * by siglongjmp, or by the thread's end, has no RING_DONE.
 *
 * Times are CLOCK_MONOTONIC's, in ns. There is one writer, the owner; it must not be interrupted by
 * itself between ring_has_room and ring_put (the library of waits ensures that).
 */
#ifndef FLAME_INPROC_RING_H
#define FLAME_INPROC_RING_H

#include <stdbool.h>

#include "common/compiler.h"
#include "patch/patcher.h"

#define RING_WORDS 32768u /* a power of two */
#define RING_STACK_MAX 1024u

#define RING_NAME_MAX 255u /* bytes of a region's name */

#define RING_FUNCTION_MAX 1000u              /* bytes of a function's name */
#define RING_IS_FUNCTION ((uint64_t)1 << 62) /* in no address */

#define RING_PIECES 3u
#define RING_PIECE_MAX 1022u /* words of one piece */

enum ring_kind {
    RING_BEGIN = 1,
    RING_STACK,
    RING_CALL,
    RING_DONE,
    RING_MEMORY,
    RING_REGION,
    RING_WAITED,
    RING_FUNCTION
};

enum ring_region {
    RING_REGION_OPEN = 1,  /* a tag was pushed */
    RING_REGION_CLOSE = 2, /* the newest tag was popped; no name */
    RING_REGION_PASS = 3,  /* a mark: a pass of that name has ended, and the next one begins */
};

/* Flags of a RING_DONE, and of an outcome. */
#define RING_RAN_ON 1u    /* the thread stayed on its CPU throughout, and no signal came */
#define RING_PREEMPTED 2u /* it left its CPU, but only by preemption */

/* The call can have woken no thread: it was on a plain file, or opened one. */
#define RING_NOBODY 4u

#define RING_BEGIN_WORDS 2u
#define RING_CALL_WORDS 10u
#define RING_DONE_WORDS 4u
#define RING_WAITED_WORDS 4u
#define RING_REGION_WORDS(bytes) (2u + ((bytes) + 7u) / 8u)
#define RING_FUNCTION_WORDS(bytes) (2u + ((bytes) + 7u) / 8u)
#define RING_MOST_WORDS (1u + RING_STACK_MAX)
#define RING_PIECE_WORDS 3u /* in addition to the bytes */

_Static_assert(RING_PIECE_WORDS + RING_PIECE_MAX <= RING_MOST_WORDS, "readers have room for it");

/* The thread's side. Any process of the run can write to it. */
struct ring {
    uint64_t head __attribute__((aligned(64)));
    uint32_t owner; /* number of the thread; 0: free. Set by the thread, cleared by the reader */
    uint32_t waits; /* 1: the thread waits for room, here */
    uint64_t words[RING_WORDS] __attribute__((aligned(4096)));
};

/* The reader's side. Programs have it mapped for reading only. */
struct ring_control {
    uint64_t tail __attribute__((aligned(64)));
    /* Time when a signal that the program does not ignore was last delivered to the thread, or job
     * control stopped it. Written before the thread resumes. */
    uint64_t handled;
    uint32_t closed; /* 1: the ring is not read any more */
    uint32_t lent;   /* 1: a child of vfork writes here, and `handled` is not about the child */
    uint32_t turn;   /* goes up each time the ring is released */
};

_Static_assert(sizeof(struct ring) == 4096 + RING_WORDS * 8, "shared between programs");
_Static_assert(sizeof(struct ring_control) == 64, "shared between programs");

static inline uint64_t ring_word(enum ring_kind kind, unsigned words, uint32_t more)
{
    return (uint64_t)kind | (uint64_t)words << 8 | (uint64_t)more << 32;
}

static inline bool ring_has_room(const struct ring *r, const struct ring_control *c, unsigned words)
{
    return r->head + words - __atomic_load_n(&c->tail, __ATOMIC_ACQUIRE) <= RING_WORDS;
}

/* Appends a record; there must be room for it. */
static inline void ring_put(struct ring *r, const uint64_t *record, unsigned words)
{
    uint64_t at = r->head;

    for (unsigned i = 0; i < words; i++)
        r->words[(at + i) % RING_WORDS] = record[i];
    __atomic_store_n(&r->head, at + words, __ATOMIC_RELEASE);
}

#define RING_OVER ((uint64_t)1 << 63)

static inline uint64_t ring_outcome(uint32_t flags, int32_t result)
{
    return RING_OVER | (uint64_t)flags << 32 | (uint32_t)result;
}

/* Writes the outcome into the RING_CALL that ends at `end`, whose call is over and did not sleep,
 * if that is still the last record. False: it is not, or the result is too large, and there must be
 * a RING_DONE. */
static inline bool ring_pass(struct ring *r, uint64_t end, uint32_t flags, long result)
{
    if (r->head != end || result != (int32_t)result)
        return false;
    __atomic_store_n(&r->words[(end - 1) % RING_WORDS], ring_outcome(flags, (int32_t)result),
                     __ATOMIC_RELEASE);
    return true;
}

/*
 * Waits until there is room. False: the ring is closed, or the reader has not been active for two
 * seconds (`beat` does not change), or there is no room after ten seconds in any case. Sleeps by
 * `enter`. No libc; safe in signal handlers.
 */
bool ring_wait(struct ring *r, const struct ring_control *c, unsigned words, const uint32_t *beat,
               patch_enter_kernel *enter);

#endif
