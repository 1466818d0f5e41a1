/*
 * capture.h: captures the user stack of a stopped thread of another process, as a node of the
 * trace.
 *
 * For each event the stack is copied once: as much of it as this thread used last time and a little
 * more. The walk works on the copy (unwind/remote/remote_walk.h), by rules from the unwind tables
 * of the mapped files (address_space.h). Where there is no rule, libunwind walks the stack in the
 * same copy.
 *
 * Not thread-safe.
 */
#ifndef FLAME_TRACER_STACKS_CAPTURE_H
#define FLAME_TRACER_STACKS_CAPTURE_H

#include <stdbool.h>
#include <sys/types.h>
#include <sys/user.h>

#include "tracer/stacks/address_space.h"
#include "unwind/remote/remote_walk.h"

struct stacks;

/* `depth`: most frames of a stack; a deeper one keeps its outer and its inner half. */
struct stacks *stacks_new(struct offtrace *to, int depth);
/* All spaces must have been released. */
void stacks_free(struct stacks *s);

/* The spaces for space_new. */
struct spaces *stacks_spaces(struct stacks *s);

/*
 * Captures the stack of `tid`, which is stopped or asleep with these registers, as a node under the
 * root of trace thread `thread`. 0: it could not be read. All registers are needed (libunwind may
 * use them). `partial`: only rip and rsp are known, and a frame that needs its frame pointer is
 * searched for (unwind/remote/remote_search.h). A stack that cannot be walked to the thread's start
 * has the frame TRACE_STACK_INCOMPLETE for the rest.
 */
uint32_t stacks_capture(struct stacks *s, struct space *sp, pid_t tid, uint16_t thread,
                        const struct user_regs_struct *regs, bool partial);

/* Like stacks_capture, for a thread that runs on: from a copy of its stack, `size` bytes from
 * regs->rsp on. The space must get its mappings from spaces_receive_maps. */
uint32_t stacks_copied(struct stacks *s, struct space *sp, pid_t tid, uint16_t thread,
                       const struct user_regs_struct *regs, const uint8_t *bytes, size_t size);

/* Like stacks_capture, but returns addresses, innermost first; those that are no return address
 * have REMOTE_EXACT. *n is their number. They are borrowed until the next call. */
const uintptr_t *stacks_walk(struct stacks *s, struct space *sp, pid_t tid,
                             const struct user_regs_struct *regs, bool partial, int *n);

/* From now on stacks_sps has the stack pointers of the frames that stacks_walk returns, as many;
 * NULL: they are not known of this stack. Borrowed likewise. */
void stacks_keep_sps(struct stacks *s);
const uintptr_t *stacks_sps(const struct stacks *s);

/* Node of a stack that the thread logged itself: return addresses, outermost first, and what
 * stacks_function returned for functions. It is the node
 * that stacks_capture would return at the call before the innermost address. 0: the process's
 * mappings cannot be read. */
uint32_t stacks_inproc(struct stacks *s, struct space *sp, pid_t tid, uint16_t thread,
                       const uint64_t *pcs, size_t n);

/* Value for a function of Python in the pcs of stacks_inproc, by its name; 0: stacks have
 * none. */
uint64_t stacks_function(struct stacks *s, const char *name, size_t len);

/* From now on stacks of stacks_capture have the functions of Python between the native frames that
 * run them, as TRACE_NODE_NAME, unless a walk needs libunwind. */
void stacks_name_python(struct stacks *s);

/* Libraries of flame may run in threads (common/env/librarynote.h): their frames are removed from
 * stacks. A stack that ends in the recorder's own work has the frame STACKS_RECORDER for it. */
#define STACKS_RECORDER "[recorder]"
void stacks_have_own_libraries(struct stacks *s);
/* Code in [begin, end) that no file has is the recorder's, too: the agent of inject/. */
void stacks_have_agent(struct stacks *s, uintptr_t begin, uintptr_t end);

/* Whether a node of stacks_capture or stacks_inproc has that frame. */
bool stacks_is_recorder(const struct stacks *s, uint32_t node);

/* A number that two nodes of stacks_capture share if their innermost frames are at the same
 * addresses. It is never 0; 0 is returned for a node that stacks_capture did not make. */
#define STACKS_ALIKE_FRAMES 4
uint32_t stacks_likeness(const struct stacks *s, uint32_t node);

/* Must be called when a traced process serves page faults (userfaultfd). From now on only present
 * pages are read: the thread that serves the others may itself be stopped. */
void stacks_beware(struct stacks *s);

/* Number of stacks that needed libunwind, and of those that could not be walked to the end. */
uint64_t stacks_fallbacks(const struct stacks *s);
uint64_t stacks_lost(const struct stacks *s);

#endif
