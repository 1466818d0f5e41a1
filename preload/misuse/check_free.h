/*
 * check_free.h: checks whether a block is freed correctly.
 *
 * Only certain errors are reported: see docs/design/misuse.md, and "Misuse" in docs/leaks.md. The
 * guard is at GUARD_RECORDING; errno is preserved. No malloc.
 */
#ifndef FLAME_PRELOAD_MISUSE_CHECK_FREE_H
#define FLAME_PRELOAD_MISUSE_CHECK_FREE_H

#include "common/compiler.h"

enum check_free_scope {
    CHECK_FREE_BLOCKS = 1u << 0, /* every block that the allocator hands out is recorded: an
                                  * unknown block was never handed out */
    CHECK_FREE_OPERATORS =
        1u << 1, /* the program's operators new and delete are the recorder's hooks */
};

/* Sets which judgements can be certain in this process: bits of enum check_free_scope. */
void check_free_enable(uint32_t scope);

#endif
