/*
 * remote_search.h: the caller of a frame whose frame pointer is not known.
 *
 * For a thread that sleeps and must not be stopped, only the stack pointer and the address of its
 * code are known. That suffices until a function needs its frame pointer (one with alloca, or
 * compiled with frame pointers). Its frame lies somewhere above on the stack. It differs from data
 * that only looks like a frame:
 *
 *   - where its return address would be there is the address behind a call, either of this
 *     very function or through a pointer
 *   - from there the rules lead to the thread's start, and each return address on that way
 *     is one behind a call
 *   - the frame is at least as large as the function's prologue makes it, and has the stack
 *     protector's word where the function put it
 *
 * Of several such places, one where the function is called by name is preferred, then the lowest.
 *
 * Remains of earlier calls can look like a whole stack with all its frames, because a call through
 * a pointer fits any function. The prologue proves a place that is as far up as the prologue
 * reserved. At any other place where the function is called through a pointer, the frames further
 * out must have no other such call (except that of main or of the thread's function). They must
 * have no call of a different function (by a function that ended with a jump), and must not contain
 * the function itself. If no place is left the caller is unknown, which is better than a wrong one.
 */
#ifndef FLAME_UNWIND_REMOTE_REMOTE_SEARCH_H
#define FLAME_UNWIND_REMOTE_REMOTE_SEARCH_H

#include "unwind/remote/remote_walk.h"
#include "unwind/step.h"

/* Distance above the stack pointer up to which a frame is searched for. */
#define SEARCH_BYTES ((uintptr_t)128 << 10)

/* `callee` needs bp and has none; *w is the window it lies in and may be extended. True: *caller is
 * the frame that it returns to. */
bool remote_search(struct rules *rules, struct remote_memory *mem, struct walk_window *w,
                   const struct frame_state *callee, struct frame_state *caller);

#endif
