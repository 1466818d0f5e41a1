/*
 * remote_libunwind.h: libunwind over copies of another process's memory, for what the
 * rules of cfi.h cannot say. It reads nothing by itself and keeps nothing.
 *
 * Not thread-safe.
 */
#ifndef FLAME_UNWIND_REMOTE_REMOTE_LIBUNWIND_H
#define FLAME_UNWIND_REMOTE_REMOTE_LIBUNWIND_H

#include "unwind/remote/remote_walk.h"

/* DWARF's numbers of the registers (System V ABI, x86-64 supplement, table 3.36). */
enum {
    REMOTE_BP = 6,
    REMOTE_SP = 7,
    REMOTE_PC = 16,
    REMOTE_REGS = 17,
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
