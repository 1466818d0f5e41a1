/*
 * remote_walk.h: walks the stack of another process's thread, over copies of its memory that are
 * extended when the walk needs more.
 *
 * The walk itself reads only the copies. No return address is ever changed.
 */
#ifndef FLAME_UNWIND_REMOTE_REMOTE_WALK_H
#define FLAME_UNWIND_REMOTE_REMOTE_WALK_H

#include "unwind/walk.h"

/* Set in a pc that is the interrupted instruction's own address, not a return address. */
#define REMOTE_EXACT ((uintptr_t)1 << 63)

/* Access to the process's code, for a walk that begins without a frame pointer
 * (remote_search.h). */
struct remote_code {
    void *arg;
    /* Reads `size` bytes at `at`, code or data; false: not all of them can be read. */
    bool (*read)(void *arg, uintptr_t at, void *to, size_t size);
    /* Finds the beginning *start of the function that contains the instruction at `pc`; 0: no table
     * covers it. False: there is no code at `pc`, which may be any value. */
    bool (*function)(void *arg, uintptr_t pc, uintptr_t *start);
};

struct remote_memory {
    /* A window that contains the word at `addr`: the same one extended, or another. False: that
     * memory cannot be read. `addr` may be any value. */
    bool (*window)(void *arg, uintptr_t addr, struct walk_window *out);
    void *arg;
    const struct remote_code *code; /* set if regs.bp is not known, otherwise NULL */
    uintptr_t *sps; /* or NULL: filled like `pcs`, with the stack pointer of each frame */
    size_t deepest; /* set by the walk: number of bytes from regs.sp to the outermost frame */
};

/*
 * Fills pcs[0..max), innermost first, beginning with regs.pc (exact). Returns how many it filled;
 * if that is max, there may be more. *end says how the walk ended. It is WALK_BROKEN if a frame
 * pointer is needed and not known, and in code without tables whose frame pointer leads nowhere. It
 * is WALK_BARE in such code if the frame pointer is 0 or not known. In both cases libunwind could
 * not continue either.
 */
int remote_walk(struct rules *rules, struct walk_regs regs, struct remote_memory *mem,
                uintptr_t *pcs, int max, enum walk_end *end);

#endif
