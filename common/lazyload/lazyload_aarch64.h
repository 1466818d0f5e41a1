/*
 * lazyload_aarch64.h: the two pieces of assembly that lazyload.c describes. x16 and x17 are the
 * linker's own between a call and the function's first instruction (AAPCS64, 6.1.1); `hint #34` is
 * `bti c`, which is a no-op on processors without it.
 */
#ifndef FLAME_COMMON_LAZYLOAD_LAZYLOAD_AARCH64_H
#define FLAME_COMMON_LAZYLOAD_LAZYLOAD_AARCH64_H

/* A function, the code that its pointer leads to at first, and the pointer. */
#define LATE_FUNCTION(index, name)                                                                 \
    ".globl " #name "\n"                                                                           \
    ".type " #name ", %function\n" #name ":\n"                                                     \
    ".cfi_startproc\n"                                                                             \
    "hint #34\n"                                                                                   \
    "adrp x16, late_addresses+8*" #index "\n"                                                      \
    "ldr x17, [x16, #:lo12:late_addresses+8*" #index "]\n"                                         \
    "br x17\n"                                                                                     \
    "0:\n"                                                                                         \
    "hint #34\n"                                                                                   \
    "mov x16, #" #index "\n"                                                                       \
    "b late_first\n"                                                                               \
    ".cfi_endproc\n"                                                                               \
    ".size " #name ", . - " #name "\n"                                                             \
    ".data\n"                                                                                      \
    ".xword 0b\n"                                                                                  \
    ".text\n"

/* late_first: the index is in x16. It saves all registers that may hold arguments, and x8, which
 * may hold the result's address. */
#define LATE_FIRST                                                                                 \
    ".text\n"                                                                                      \
    ".type late_first, %function\n"                                                                \
    "late_first:\n"                                                                                \
    ".cfi_startproc\n"                                                                             \
    "stp x29, x30, [sp, #-224]!\n"                                                                 \
    ".cfi_def_cfa_offset 224\n"                                                                    \
    ".cfi_offset x29, -224\n"                                                                      \
    ".cfi_offset x30, -216\n"                                                                      \
    "mov x29, sp\n"                                                                                \
    "stp x0, x1, [sp, #16]\n"                                                                      \
    "stp x2, x3, [sp, #32]\n"                                                                      \
    "stp x4, x5, [sp, #48]\n"                                                                      \
    "stp x6, x7, [sp, #64]\n"                                                                      \
    "stp x8, x16, [sp, #80]\n"                                                                     \
    "stp q0, q1, [sp, #96]\n"                                                                      \
    "stp q2, q3, [sp, #128]\n"                                                                     \
    "stp q4, q5, [sp, #160]\n"                                                                     \
    "stp q6, q7, [sp, #192]\n"                                                                     \
    "mov x0, x16\n"                                                                                \
    "bl late_bind\n"                                                                               \
    "ldp q6, q7, [sp, #192]\n"                                                                     \
    "ldp q4, q5, [sp, #160]\n"                                                                     \
    "ldp q2, q3, [sp, #128]\n"                                                                     \
    "ldp q0, q1, [sp, #96]\n"                                                                      \
    "ldp x8, x16, [sp, #80]\n"                                                                     \
    "ldp x6, x7, [sp, #64]\n"                                                                      \
    "ldp x4, x5, [sp, #48]\n"                                                                      \
    "ldp x2, x3, [sp, #32]\n"                                                                      \
    "ldp x0, x1, [sp, #16]\n"                                                                      \
    "ldp x29, x30, [sp], #224\n"                                                                   \
    ".cfi_def_cfa_offset 0\n"                                                                      \
    ".cfi_restore x29\n"                                                                           \
    ".cfi_restore x30\n"                                                                           \
    "adrp x17, late_addresses\n"                                                                   \
    "add x17, x17, #:lo12:late_addresses\n"                                                        \
    "ldr x17, [x17, x16, lsl #3]\n"                                                                \
    "br x17\n"                                                                                     \
    ".cfi_endproc\n"                                                                               \
    ".size late_first, . - late_first\n"

#endif
