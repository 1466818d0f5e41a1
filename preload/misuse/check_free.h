/*
 * check_free.h: judgement of whether a block is given back as it should be.
 *
 * Only certain errors are reported: see docs/ARCHITECTURE.md, and "Misuse" in docs/leaks.md. The
 * guard is at GUARD_RECORDING; errno is preserved. No malloc.
 */
#ifndef FLAME_PRELOAD_MISUSE_CHECK_FREE_H
#define FLAME_PRELOAD_MISUSE_CHECK_FREE_H

#include "common/compiler.h"

enum judge_scope {
    JUDGE_BLOCKS = 1u << 0,    /* every block that the allocator hands out is recorded: an
                                * unknown block was never handed out */
    JUDGE_OPERATORS = 1u << 1, /* the program's operators new and delete are the recorder's hooks */
};

/* Sets which judgements can be certain in this process: bits of enum judge_scope. */
void judge_set(uint32_t scope);

#endif
