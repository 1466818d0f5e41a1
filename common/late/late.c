/*
 * Problem: see late.h. glibc's loader loads every library that a program was linked with
 * before its first instruction (there is no -z lazyload), and dlopen with a table of pointers
 * for each would be in every caller.
 *
 * Algorithm: $(O)/generated/latelibs.h (scripts/latelibs.sh) lists the libraries and each
 * function that flame's objects need of them. Each gets a definition here: a jump through a
 * pointer, which at first leads to a piece of code that keeps all argument registers, has
 * late_bind() put the library's own addresses into the pointers, and jumps again. That is what
 * a procedure linkage table does, and costs what it costs.
 *
 * All functions of a library are found at its first call: a child that was forked, which is not
 * free to enter the loader, then does not have to.
 */
#define _GNU_SOURCE
#include "common/late/late.h"

#include <dlfcn.h>
#include <stdlib.h>

#include <generated/latelibs.h>

#include "common/compiler.h"
#include "common/error.h"

struct library {
    size_t first; /* of late_names and late_addresses */
    const char *soname;
};

/* Filled in with release, and read by the code below, for which any order will do. */
extern void *late_addresses[] __attribute__((visibility("hidden")));

#define LIBRARY(first, soname) {first, soname},
static const struct library libraries[] = {LATE_LIBRARIES(LIBRARY){LATE_COUNT, NULL}};

#define NAME(index, name) #name,
static const char *const names[] = {LATE_FUNCTIONS(NAME) NULL};

static FLAME_NORETURN void give_up(void)
{
    exit(flame_error(FLAME_FAILED, "a library that is needed here: %s", dlerror()));
}

__attribute__((used)) void late_bind(size_t index)
{
    const struct library *l = libraries;
    void *handle, *address;

    while (index >= l[1].first)
        l++;
    handle = dlopen(l->soname, RTLD_NOW | RTLD_LOCAL);
    if (!handle)
        give_up();
    for (size_t i = l->first; i < l[1].first; i++) {
        address = dlsym(handle, names[i]);
        if (!address)
            give_up();
        __atomic_store_n(&late_addresses[i], address, __ATOMIC_RELEASE);
    }
}

/* A function, the code that its pointer leads to at first, and the pointer. */
#define FUNCTION(index, name)                                                                      \
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
 * late_first: the index is on the stack above the return address. Kept are all registers that
 * may hold arguments; those in memory stay where they are. %r11 is nobody's.
 */
__asm__(".text\n"
        ".type late_first, @function\n"
        "late_first:\n"
        ".cfi_startproc\n"
        ".cfi_adjust_cfa_offset 8\n"
        "pushq %rbp\n"
        ".cfi_adjust_cfa_offset 8\n"
        ".cfi_rel_offset %rbp, 0\n"
        "movq %rsp, %rbp\n"
        ".cfi_def_cfa_register %rbp\n"
        "pushq %rax\n"
        "pushq %rdi\n"
        "pushq %rsi\n"
        "pushq %rdx\n"
        "pushq %rcx\n"
        "pushq %r8\n"
        "pushq %r9\n"
        "subq $136, %rsp\n"
        "movups %xmm0, (%rsp)\n"
        "movups %xmm1, 16(%rsp)\n"
        "movups %xmm2, 32(%rsp)\n"
        "movups %xmm3, 48(%rsp)\n"
        "movups %xmm4, 64(%rsp)\n"
        "movups %xmm5, 80(%rsp)\n"
        "movups %xmm6, 96(%rsp)\n"
        "movups %xmm7, 112(%rsp)\n"
        "movq 8(%rbp), %rdi\n"
        "andq $-16, %rsp\n"
        "call late_bind\n"
        "leaq -192(%rbp), %rsp\n"
        "movups (%rsp), %xmm0\n"
        "movups 16(%rsp), %xmm1\n"
        "movups 32(%rsp), %xmm2\n"
        "movups 48(%rsp), %xmm3\n"
        "movups 64(%rsp), %xmm4\n"
        "movups 80(%rsp), %xmm5\n"
        "movups 96(%rsp), %xmm6\n"
        "movups 112(%rsp), %xmm7\n"
        "addq $136, %rsp\n"
        "popq %r9\n"
        "popq %r8\n"
        "popq %rcx\n"
        "popq %rdx\n"
        "popq %rsi\n"
        "popq %rdi\n"
        "popq %rax\n"
        "popq %rbp\n"
        ".cfi_def_cfa %rsp, 16\n"
        ".cfi_restore %rbp\n"
        "popq %r11\n"
        ".cfi_adjust_cfa_offset -8\n"
        "pushq %rax\n"
        ".cfi_adjust_cfa_offset 8\n"
        "leaq late_addresses(%rip), %rax\n"
        "movq (%rax,%r11,8), %r11\n"
        "popq %rax\n"
        ".cfi_adjust_cfa_offset -8\n"
        "jmp *%r11\n"
        ".cfi_endproc\n"
        ".size late_first, . - late_first\n"

        ".data\n"
        ".balign 8\n"
        ".hidden late_addresses\n"
        ".globl late_addresses\n"
        "late_addresses:\n"
        ".text\n" LATE_FUNCTIONS(FUNCTION));
