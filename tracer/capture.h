/*
 * capture.h: the user stack of a stopped thread of another process, as a node of the
 * trace.
 *
 * One copy of the stack for each event, as long as this thread's stack was last time and
 * a little longer; the walk works on the copy (unwind/remote_walk.h), by rules from the
 * unwind tables of the files that are mapped (space.h). libunwind follows, over the same
 * copy, what a rule cannot say.
 *
 * Not thread-safe.
 */
#ifndef FLAME_TRACER_CAPTURE_H
#define FLAME_TRACER_CAPTURE_H

#include <sys/types.h>
#include <sys/user.h>

#include "tracer/space.h"
#include "unwind/remote_walk.h"

struct stacks;

/* `depth`: frames kept of a stack; of a deeper one the outer and the inner half. */
struct stacks *stacks_new(struct offtrace *to, int depth);
/* All spaces must have been released. */
void stacks_free(struct stacks *s);

/* For space_new. */
struct spaces *stacks_spaces(struct stacks *s);

/*
 * The stack of `tid`, which is stopped or asleep with these registers, as a node under
 * the root of trace thread `thread`. 0: it could not be read. All registers
 * are wanted (libunwind may need them); where only some are known, the rest is 0.
 */
uint32_t stacks_capture(struct stacks *s, struct space *sp, pid_t tid, uint16_t thread,
                        const struct user_regs_struct *regs);

/* The same as addresses, innermost first, REMOTE_EXACT in those that are no return
 * address; n of them, borrowed until the next call. */
const uintptr_t *stacks_walk(struct stacks *s, struct space *sp, pid_t tid,
                             const struct user_regs_struct *regs, int *n);

/* Stacks that libunwind was asked for, and those nobody could follow to the end. */
uint64_t stacks_fallbacks(const struct stacks *s);
uint64_t stacks_lost(const struct stacks *s);

#endif
