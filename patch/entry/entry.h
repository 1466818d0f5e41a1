/*
 * entry.h: hooks on functions of a module in memory. All calls of a function reach its hook,
 * because a branch replaces the function's first instructions.
 *
 * Runs inside a traced program, like patch/patcher.h: in one thread, while no other runs and none
 * is within the first bytes of one of the functions. The hook is entered with all registers and the
 * stack as the function would be, and returns to the function's caller.
 *
 * A function is not patched if its first instructions do not work elsewhere, or if it jumps back to
 * them. Nor is one that is shorter than a branch and has no padding after it, or one whose
 * instructions are not all known. Jumps from other functions are not searched for: compilers make
 * none into another function.
 */
#ifndef FLAME_PATCH_ENTRY_ENTRY_H
#define FLAME_PATCH_ENTRY_ENTRY_H

#include "patch/patcher.h"

struct patch_entry {
    uintptr_t function;
    size_t size; /* size of the function in bytes */
    void *hook;
    bool needed; /* if it cannot be patched, no function is */
    /* Address by which the hook calls the function; NULL: it is not patched. Set by
     * entries_apply. */
    void *original;
};

/* Bytes of memory that one function takes near its module, in pages that contain nothing else. */
#define ENTRY_SLOT 64

/*
 * Patches those of the functions that can be patched, for good; n * ENTRY_SLOT bytes are mapped
 * near them. All belong to one module, each is listed once, in any order. `ready`, if not NULL, is
 * called with `arg` after every `original` is set, and before the first byte of a function changes.
 * PATCH_DONE; PATCH_NOTHING: no function can be patched, or a needed one cannot; PATCH_UNMAPPED,
 * _NO_ROOM, _REFUSED as in patch/patcher.h. After any result but PATCH_DONE all `original` are NULL
 * and the module is unchanged.
 */
enum patch_result entries_apply(struct patch_entry *entries, size_t n, void (*ready)(void *arg),
                                void *arg);

#endif
