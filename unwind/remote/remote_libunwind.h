/*
 * remote_libunwind.h: libunwind over copies of another process's memory, for frames that the rules
 * of cfi.h cannot describe. It reads nothing by itself and caches nothing.
 *
 * Not thread-safe.
 */
#ifndef FLAME_UNWIND_REMOTE_REMOTE_LIBUNWIND_H
#define FLAME_UNWIND_REMOTE_REMOTE_LIBUNWIND_H

#include "unwind/remote/remote_walk.h"

/* Register numbers: DWARF's, except for aarch64's program counter, which has libunwind's. */
enum {
    REMOTE_BP = ARCH_CFI_BP,
    REMOTE_SP = ARCH_CFI_SP,
    REMOTE_PC = ARCH_LINK ? 32 : ARCH_CFI_RA,
    REMOTE_REGS = REMOTE_PC + 1,
};

/* Location, in the process, of the search table of a module's call frame information. */
struct remote_tables {
    uintptr_t start, end;    /* range of the module */
    uintptr_t hdr, hdr_size; /* .eh_frame_hdr */
};

struct remote_source {
    void *arg;
    struct rules *rules; /* used to recognise signal frames */
    /* Finds the tables of the module at `pc`; false: it has none. */
    bool (*tables)(void *arg, uintptr_t pc, struct remote_tables *out);
    /* Reads a word of the stack or of a module's tables. */
    bool (*word)(void *arg, uintptr_t addr, uint64_t *out);
};

/* Like remote_walk. *end is WALK_COMPLETE if it reached the outermost frame. */
int remote_libunwind(const uint64_t regs[REMOTE_REGS], const struct remote_source *source,
                     uintptr_t *pcs, int max, enum walk_end *end);

#endif
