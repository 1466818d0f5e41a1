/*
 * capture.h: the user stack of a stopped thread of another process, as a node of the
 * trace.
 *
 * For each event the stack is copied once, as much of it as this thread used last time and a
 * little more. The walk works on the copy (unwind/remote/remote_walk.h), by rules from the unwind
 * tables of the files that are mapped (space.h). What a rule cannot say, libunwind follows over
 * the same copy.
 *
 * Not thread-safe.
 */
#ifndef FLAME_TRACER_STACKS_CAPTURE_H
#define FLAME_TRACER_STACKS_CAPTURE_H

#include <stdbool.h>
#include <sys/types.h>
#include <sys/user.h>

#include "tracer/stacks/space.h"
#include "unwind/remote/remote_walk.h"

struct stacks;

/* `depth`: frames kept of a stack; of a deeper one the outer and the inner half. */
struct stacks *stacks_new(struct offtrace *to, int depth);
/* All spaces must have been released. */
void stacks_free(struct stacks *s);

/* For space_new. */
struct spaces *stacks_spaces(struct stacks *s);

/*
 * The stack of `tid`, which is stopped or asleep with these registers, as a node under
 * the root of trace thread `thread`. 0: it could not be read. All registers are wanted
 * (libunwind may need them); `partial`: rip and rsp alone are known, and a frame that needs its
 * frame pointer is sought (unwind/remote/remote_search.h). A stack that cannot be followed to the
 * thread's start has the frame TRACE_STACK_INCOMPLETE for the rest.
 */
uint32_t stacks_capture(struct stacks *s, struct space *sp, pid_t tid, uint16_t thread,
                        const struct user_regs_struct *regs, bool partial);

/* The same of a thread that has gone on: by a copy of its stack, `size` bytes from regs->rsp on.
 * The space must be one that is told its mappings. */
uint32_t stacks_copied(struct stacks *s, struct space *sp, pid_t tid, uint16_t thread,
                       const struct user_regs_struct *regs, const uint8_t *bytes, size_t size);

/* The same as addresses, innermost first, REMOTE_EXACT in those that are no return address; n of
 * them, borrowed until the next call. */
const uintptr_t *stacks_walk(struct stacks *s, struct space *sp, pid_t tid,
                             const struct user_regs_struct *regs, bool partial, int *n);

/* A stack that the thread took itself: return addresses, outermost first. The same node as
 * stacks_capture would give at the call that the innermost one lies behind. 0: the process's
 * mappings cannot be read. */
uint32_t stacks_given(struct stacks *s, struct space *sp, pid_t tid, uint16_t thread,
                      const uint64_t *pcs, size_t n);

/* Threads may have libraries of flame's in them (common/env/librarynote.h): their frames are left
 * out of stacks. One that ends in the recorder's own doing has the frame STACKS_RECORDER for that.
 */
#define STACKS_RECORDER "[recorder]"
void stacks_have_guests(struct stacks *s);

/* Whether a node of stacks_capture or stacks_given is one with that frame. */
bool stacks_is_recorder(const struct stacks *s, uint32_t node);

/* A number that two nodes of stacks_capture share if their innermost frames are at the same
 * addresses. It is never 0; 0 is returned for a node that stacks_capture did not make. */
#define STACKS_ALIKE_FRAMES 4
uint32_t stacks_likeness(const struct stacks *s, uint32_t node);

/* To be called when a traced process serves page faults (userfaultfd). From now on only pages that
 * are there are read: the thread that should give the others may be stopped itself. */
void stacks_beware(struct stacks *s);

/* Stacks that libunwind was asked for, and those nobody could follow to the end. */
uint64_t stacks_fallbacks(const struct stacks *s);
uint64_t stacks_lost(const struct stacks *s);

#endif
