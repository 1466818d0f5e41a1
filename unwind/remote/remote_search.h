/*
 * remote_search.h: the caller of a frame whose frame pointer is not known.
 *
 * Of a thread that sleeps and must not be stopped only the stack pointer and the address of
 * its code are known. That is enough until a function wants its frame pointer (one with
 * alloca, or compiled to keep one). Its frame lies somewhere above on the stack, and can be
 * told from what merely looks like one:
 *
 *   - where its return address would be there is the address behind a call, either of this
 *     very function or through a pointer
 *   - from there the rules lead to the thread's start, and each return address on that way
 *     is one behind a call
 *   - the frame is at least as large as the function's prologue makes it, and has the stack
 *     protector's word where the function put it
 *
 * Of several such places the one counts where the function is called by name, then the lowest.
 *
 * What earlier calls left on the stack can be as good as a stack, with all its frames: calls
 * through pointers fit anything. So, unless the prologue proves the place (it is as far up as
 * the prologue took), where the function is called through a pointer the way out must have no
 * other such call (but the one of main or of the thread's function), no call of something else
 * (by a function that ended by jumping to another), and the function itself not either. When no
 * place is left the caller is not known, which is better than a wrong one.
 */
#ifndef FLAME_UNWIND_REMOTE_REMOTE_SEARCH_H
#define FLAME_UNWIND_REMOTE_REMOTE_SEARCH_H

#include "unwind/remote/remote_walk.h"
#include "unwind/step.h"

/* So far above the stack pointer a frame is sought. */
#define SEARCH_BYTES ((uintptr_t)128 << 10)

/* `callee` needs bp and has none; *w is the window it lies in and may be made longer. True:
 * *caller is the frame it returns to. */
bool remote_search(struct rules *rules, struct remote_memory *mem, struct walk_window *w,
                   const struct frame_state *callee, struct frame_state *caller);

#endif
