/*
 * judge.h: whether a block is given back as it should be.
 *
 * What is certain is told, and nothing else: see "Misuse" in docs/ARCHITECTURE.md. The guard is
 * at GUARD_RECORDING; errno is preserved. No malloc.
 */
#ifndef FLAME_PRELOAD_MISUSE_JUDGE_H
#define FLAME_PRELOAD_MISUSE_JUDGE_H

#include "common/compiler.h"

enum judge_scope {
    JUDGE_BLOCKS = 1u << 0,    /* every block that the allocator hands out is told of: what is
                                  not known was never handed out */
    JUDGE_OPERATORS = 1u << 1, /* operators new and delete are the ones beneath us */
};

/* What can be certain in this process: bits of enum judge_scope. */
void judge_set(uint32_t scope);

#endif
