/*
 * rseq.h: whether a thread left its CPU, known for nothing.
 *
 * The C library registers a struct rseq for each thread (rseq(2); glibc from 2.35 on). It can name
 * a sequence of instructions that is to be begun anew if the thread is interrupted in it. Until
 * Linux 6.18 the kernel takes the name away (rseq_cs becomes NULL) whenever the thread comes back
 * from having been off its CPU, or from a signal, outside of that sequence. So whoever names a
 * sequence that nobody executes sees afterwards whether that happened: one store and one load.
 *
 * Newer kernels need not look there when a system call ends. So it is not believed but tried, once
 * a run, by the tracing process (rseq_tells), which says what came of it in the run's memory.
 * Where it does not hold, what is known of it is "perhaps", and the kernel's own counts are asked.
 *
 * A child of vfork has its parent's memory, and no struct rseq of its own: nothing holds there.
 */
#ifndef FLAME_INPROC_RSEQ_H
#define FLAME_INPROC_RSEQ_H

#include <stdbool.h>
#include <stddef.h>

#include "common/compiler.h"
#include "common/processor/arch.h"

/* As <linux/rseq.h> has it; not every system has that. */
struct rseq_section {
    uint32_t version, flags;
    uint64_t start, length, abort;
};

/* The one that nobody executes, once rseq_begin has been called. */
extern struct rseq_section rseq_never __attribute__((visibility("hidden")));

extern const ptrdiff_t __rseq_offset __attribute__((weak));
extern const unsigned __rseq_size __attribute__((weak));

#define RSEQ_CS 8 /* offset of the pointer in struct rseq */

/* Gets ready. False: the C library has registered none, and the functions below must not be called.
 * The same in all threads. No libc. */
bool rseq_begin(void);

static inline volatile uint64_t *rseq_at(void)
{
    return (volatile uint64_t *)(arch_thread_pointer() + (uintptr_t)__rseq_offset + RSEQ_CS);
}

/* From now on it is seen whether the calling thread leaves its CPU. */
static inline void rseq_arm(void)
{
    *rseq_at() = (uintptr_t)&rseq_never;
}

/* It has not left it since, and no signal came. A program's own sequences count as if it had. */
static inline bool rseq_stayed(void)
{
    return *rseq_at() == (uintptr_t)&rseq_never;
}

/*
 * Whether all that holds here: the calling thread sleeps for an instant, which takes some 100 us.
 * For a process that has no sequences of its own. Uses the C library.
 */
bool rseq_tells(void);

#endif
