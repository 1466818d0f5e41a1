/*
 * remote_walk.h: the stack of another process's thread, walked over copies of its
 * memory that are made longer when the walk needs it.
 *
 * The walk itself reads the copies only. No return address is ever changed.
 */
#ifndef FLAME_UNWIND_REMOTE_WALK_H
#define FLAME_UNWIND_REMOTE_WALK_H

#include "unwind/walk.h"

/* Set in a pc that is the interrupted instruction's own address, not a return address. */
#define REMOTE_EXACT ((uintptr_t)1 << 63)

struct remote_memory {
    /* A window in which the word at `addr` lies: the same one made longer, or another.
     * False: that memory cannot be read. `addr` is anything, also nonsense. */
    bool (*window)(void *arg, uintptr_t addr, struct walk_window *out);
    void *arg;
    size_t deepest; /* set by the walk: bytes from regs.sp to the outermost frame's there */
};

/*
 * Fills pcs[0..max), innermost first, beginning with regs.pc (exact). Returns how many;
 * == max may mean that there are more. *end says how it ended.
 */
int remote_walk(struct rules *rules, struct walk_regs regs, struct remote_memory *mem,
                uintptr_t *pcs, int max, enum walk_end *end);

#endif
