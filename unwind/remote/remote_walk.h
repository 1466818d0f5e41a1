/*
 * remote_walk.h: the stack of another process's thread, walked over copies of its
 * memory that are made longer when the walk needs it.
 *
 * The walk itself reads the copies only. No return address is ever changed.
 */
#ifndef FLAME_UNWIND_REMOTE_REMOTE_WALK_H
#define FLAME_UNWIND_REMOTE_REMOTE_WALK_H

#include "unwind/walk.h"

/* Set in a pc that is the interrupted instruction's own address, not a return address. */
#define REMOTE_EXACT ((uintptr_t)1 << 63)

/* The process's code, for a walk that begins without a frame pointer (remote_search.h). */
struct remote_code {
    void *arg;
    /* All of `size` bytes at `at`, code or data; false: they cannot be read. */
    bool (*read)(void *arg, uintptr_t at, void *to, size_t size);
    /* False: there is no code at `pc`, which is anything. *start is where the function begins
     * that the instruction there belongs to; 0: no table speaks of it. */
    bool (*function)(void *arg, uintptr_t pc, uintptr_t *start);
};

struct remote_memory {
    /* A window in which the word at `addr` lies: the same one made longer, or another.
     * False: that memory cannot be read. `addr` is anything, also nonsense. */
    bool (*window)(void *arg, uintptr_t addr, struct walk_window *out);
    void *arg;
    const struct remote_code *code; /* regs.bp is not known; NULL: it is */
    size_t deepest; /* set by the walk: bytes from regs.sp to the outermost frame's there */
};

/*
 * Fills pcs[0..max), innermost first, beginning with regs.pc (exact). Returns how many it
 * filled; if that is max, there may be more. *end says how the walk ended. It is WALK_BROKEN
 * where a frame pointer is wanted that is not known, and in code without tables whose frame
 * pointer leads nowhere; WALK_BARE in such code if the frame pointer is 0 or not known. In both
 * cases libunwind has no more to go by.
 */
int remote_walk(struct rules *rules, struct walk_regs regs, struct remote_memory *mem,
                uintptr_t *pcs, int max, enum walk_end *end);

#endif
