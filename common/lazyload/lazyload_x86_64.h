/* lazyload_x86_64.h: the two pieces of assembly that lazyload.c describes. */
#ifndef FLAME_COMMON_LAZYLOAD_LAZYLOAD_X86_64_H
#define FLAME_COMMON_LAZYLOAD_LAZYLOAD_X86_64_H

/* A function, the code that its pointer leads to at first, and the pointer. */
#define LATE_FUNCTION(index, name)                                                                 \
    ".globl " #name "\n"                                                                           \
    ".type " #name ", @function\n" #name ":\n"                                                     \
    ".cfi_startproc\n"                                                                             \
    "endbr64\n"                                                                                    \
    "jmp *late_addresses+8*" #index "(%rip)\n"                                                     \
    "0:\n"                                                                                         \
    "endbr64\n"                                                                                    \
    "pushq $" #index "\n"                                                                          \
    ".cfi_adjust_cfa_offset 8\n"                                                                   \
    "jmp late_first\n"                                                                             \
    ".cfi_endproc\n"                                                                               \
    ".size " #name ", . - " #name "\n"                                                             \
    ".data\n"                                                                                      \
    ".quad 0b\n"                                                                                   \
    ".text\n"

/*
 * late_first: the index is on the stack above the return address. It saves all registers that may
 * hold arguments; arguments in memory do not move. %r11 is free to use.
 */
#define LATE_FIRST                                                                                 \
    ".text\n"                                                                                      \
    ".type late_first, @function\n"                                                                \
    "late_first:\n"                                                                                \
    ".cfi_startproc\n"                                                                             \
    ".cfi_adjust_cfa_offset 8\n"                                                                   \
    "pushq %rbp\n"                                                                                 \
    ".cfi_adjust_cfa_offset 8\n"                                                                   \
    ".cfi_rel_offset %rbp, 0\n"                                                                    \
    "movq %rsp, %rbp\n"                                                                            \
    ".cfi_def_cfa_register %rbp\n"                                                                 \
    "pushq %rax\n"                                                                                 \
    "pushq %rdi\n"                                                                                 \
    "pushq %rsi\n"                                                                                 \
    "pushq %rdx\n"                                                                                 \
    "pushq %rcx\n"                                                                                 \
    "pushq %r8\n"                                                                                  \
    "pushq %r9\n"                                                                                  \
    "subq $136, %rsp\n"                                                                            \
    "movups %xmm0, (%rsp)\n"                                                                       \
    "movups %xmm1, 16(%rsp)\n"                                                                     \
    "movups %xmm2, 32(%rsp)\n"                                                                     \
    "movups %xmm3, 48(%rsp)\n"                                                                     \
    "movups %xmm4, 64(%rsp)\n"                                                                     \
    "movups %xmm5, 80(%rsp)\n"                                                                     \
    "movups %xmm6, 96(%rsp)\n"                                                                     \
    "movups %xmm7, 112(%rsp)\n"                                                                    \
    "movq 8(%rbp), %rdi\n"                                                                         \
    "andq $-16, %rsp\n"                                                                            \
    "call late_bind\n"                                                                             \
    "leaq -192(%rbp), %rsp\n"                                                                      \
    "movups (%rsp), %xmm0\n"                                                                       \
    "movups 16(%rsp), %xmm1\n"                                                                     \
    "movups 32(%rsp), %xmm2\n"                                                                     \
    "movups 48(%rsp), %xmm3\n"                                                                     \
    "movups 64(%rsp), %xmm4\n"                                                                     \
    "movups 80(%rsp), %xmm5\n"                                                                     \
    "movups 96(%rsp), %xmm6\n"                                                                     \
    "movups 112(%rsp), %xmm7\n"                                                                    \
    "addq $136, %rsp\n"                                                                            \
    "popq %r9\n"                                                                                   \
    "popq %r8\n"                                                                                   \
    "popq %rcx\n"                                                                                  \
    "popq %rdx\n"                                                                                  \
    "popq %rsi\n"                                                                                  \
    "popq %rdi\n"                                                                                  \
    "popq %rax\n"                                                                                  \
    "popq %rbp\n"                                                                                  \
    ".cfi_def_cfa %rsp, 16\n"                                                                      \
    ".cfi_restore %rbp\n"                                                                          \
    "popq %r11\n"                                                                                  \
    ".cfi_adjust_cfa_offset -8\n"                                                                  \
    "pushq %rax\n"                                                                                 \
    ".cfi_adjust_cfa_offset 8\n"                                                                   \
    "leaq late_addresses(%rip), %rax\n"                                                            \
    "movq (%rax,%r11,8), %r11\n"                                                                   \
    "popq %rax\n"                                                                                  \
    ".cfi_adjust_cfa_offset -8\n"                                                                  \
    "jmp *%r11\n"                                                                                  \
    ".cfi_endproc\n"                                                                               \
    ".size late_first, . - late_first\n"

#endif
