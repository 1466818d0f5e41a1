/*
 * entry.h: hooks on functions of a module in memory. Calls come to a hook wherever they are made,
 * because the function's first instructions give way to a branch.
 *
 * Runs inside a traced program, as patch/patcher.h does: in one thread, while no other runs and
 * none is within the first bytes of one of the functions. The hook is entered with all registers
 * and the stack as the function would be, and returns to its caller.
 *
 * A function is not patched if its first instructions do not work elsewhere, or if it jumps back to
 * them. Nor is one that is shorter than a branch and has no filling behind it, or one whose
 * instructions are not all known. Jumps from other functions are not searched for: compilers make
 * none to behind another function's beginning.
 */
#ifndef FLAME_PATCH_ENTRY_ENTRY_H
#define FLAME_PATCH_ENTRY_ENTRY_H

#include "patch/patcher.h"

struct patch_entry {
    uintptr_t function;
    size_t size; /* the function's bytes */
    void *hook;
    bool needed; /* if it cannot be patched, no other is */
    /* Address that the hook calls to have the function called; NULL: it is not patched. Set by
     * entries_apply. */
    void *original;
};

/* Bytes of memory that one function takes near its module, from a page that has no others. */
#define ENTRY_SLOT 64

/*
 * Patches those of the functions that can be, which is not undone; n * ENTRY_SLOT bytes are mapped
 * near them. All of them are of one module, each once, in any order. `ready`, if not NULL, is
 * called with `arg` when every `original` is set, and before the first byte of a function changes.
 * PATCH_DONE; PATCH_NOTHING: none can be, or one that is needed cannot; PATCH_UNMAPPED, _NO_ROOM,
 * _REFUSED as patch/patcher.h has them. After any result but PATCH_DONE all `original` are NULL and
 * all is as it was.
 */
enum patch_result entries_apply(struct patch_entry *entries, size_t n, void (*ready)(void *arg),
                                void *arg);

#endif
