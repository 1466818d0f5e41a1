/*
 * remote_libunwind.h: libunwind over copies of another process's memory, for what the
 * rules of cfi.h cannot say. It reads nothing by itself and keeps nothing.
 *
 * Not thread-safe.
 */
#ifndef FLAME_UNWIND_REMOTE_REMOTE_LIBUNWIND_H
#define FLAME_UNWIND_REMOTE_REMOTE_LIBUNWIND_H

#include "unwind/remote/remote_walk.h"

/* The numbers of registers: DWARF's, but for aarch64's program counter, which has libunwind's. */
enum {
    REMOTE_BP = ARCH_CFI_BP,
    REMOTE_SP = ARCH_CFI_SP,
    REMOTE_PC = ARCH_LINK ? 32 : ARCH_CFI_RA,
    REMOTE_REGS = REMOTE_PC + 1,
};

/* Where the search table of a module's call frame information lies in the process. */
struct remote_tables {
    uintptr_t start, end;    /* the module */
    uintptr_t hdr, hdr_size; /* .eh_frame_hdr */
};

struct remote_source {
    void *arg;
    struct rules *rules; /* they know signal frames */
    /* Finds the tables of the module at `pc`; false: it has none. */
    bool (*tables)(void *arg, uintptr_t pc, struct remote_tables *out);
    /* Reads a word of the stack or of a module's tables. */
    bool (*word)(void *arg, uintptr_t addr, uint64_t *out);
};

/* As remote_walk. *end is WALK_COMPLETE when it came to the outermost frame. */
int remote_libunwind(const uint64_t regs[REMOTE_REGS], const struct remote_source *source,
                     uintptr_t *pcs, int max, enum walk_end *end);

#endif
