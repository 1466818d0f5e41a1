/*
 * rseq.h: detects by rseq(2), without a system call, whether a thread left its CPU.
 *
 * The C library registers a struct rseq for each thread (rseq(2); glibc from 2.35 on). It can name
 * a sequence of instructions that is restarted if the thread is interrupted in it. Until Linux 6.18
 * the kernel clears the name (rseq_cs becomes NULL) whenever the thread returns from having been
 * off its CPU, or from a signal, outside of that sequence. So a thread that names a sequence which
 * is never executed sees afterwards whether that happened: one store and one load.
 *
 * Newer kernels need not check this when a system call ends. So the tracing process tests it once a
 * run (rseq_tells), and writes the result into the run's memory. Where it does not hold,
 * rseq_stayed() cannot prove that the thread stayed, and the kernel's own counts are read.
 *
 * A child of vfork has its parent's memory, and no registered struct rseq: the method does not work
 * there.
 */
#ifndef FLAME_INPROC_RSEQ_H
#define FLAME_INPROC_RSEQ_H

#include <stdbool.h>
#include <stddef.h>

#include "common/compiler.h"
#include "common/processor/arch.h"

/* As in <linux/rseq.h>, which not every system has. */
struct rseq_section {
    uint32_t version, flags;
    uint64_t start, length, abort;
};

/* The sequence that is never executed, once rseq_begin has been called. */
extern struct rseq_section rseq_never __attribute__((visibility("hidden")));

extern const ptrdiff_t __rseq_offset __attribute__((weak));
extern const unsigned __rseq_size __attribute__((weak));

#define RSEQ_CS 8 /* offset of the pointer in struct rseq */

/* Prepares the method. False: the C library has registered no struct rseq, and the functions below
 * must not be called. The result is the same in all threads. No libc. */
bool rseq_begin(void);

static inline volatile uint64_t *rseq_at(void)
{
    return (volatile uint64_t *)(arch_thread_pointer() + (uintptr_t)__rseq_offset + RSEQ_CS);
}

/* From now on rseq_stayed shows whether the calling thread has left its CPU. */
static inline void rseq_arm(void)
{
    *rseq_at() = (uintptr_t)&rseq_never;
}

/* Whether the thread has not left its CPU since rseq_arm, and no signal came. A program's own
 * sequences count as leaving it. */
static inline bool rseq_stayed(void)
{
    return *rseq_at() == (uintptr_t)&rseq_never;
}

/*
 * Whether the method works here: the calling thread sleeps for an instant, which takes some 100 us.
 * For a process that has no sequences of its own. Uses the C library.
 */
bool rseq_tells(void);

#endif
