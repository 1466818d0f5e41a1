/*
 * isa.h: processor-specific part of the search for sites, behind one interface.
 *
 * The finder knows ELF, functions and targets of jumps. One struct isa for each processor
 * (isa_x86_64.c) decodes instructions, and says which of them may be moved and how long a branch to
 * a stub is. On aarch64 it would be small: each instruction has four bytes, `svc` becomes `b`, and
 * no other instruction is replaced.
 *
 * Pure functions of bytes, which are not trusted. Thread-safe.
 */
#ifndef FLAME_PATCH_FIND_ISA_H
#define FLAME_PATCH_FIND_ISA_H

#include "patch/site.h"

/* Where execution continues after an instruction. */
enum insn_flow {
    INSN_ON,            /* to the next one */
    INSN_BRANCH,        /* to the next one or to `target` */
    INSN_JUMP,          /* to `target` */
    INSN_CALL,          /* to `target`, and back to the next one */
    INSN_CALL_COMPUTED, /* to an unknown place, and back */
    INSN_JUMP_COMPUTED, /* to an unknown place */
    INSN_END,           /* to the caller, or nowhere */
    INSN_KERNEL,        /* into the kernel, and back to the next one */
};

/* Effect on the register that holds a call's number. */
enum insn_number {
    INSN_NUMBER_KEPT,
    INSN_NUMBER_SET,    /* to `number` */
    INSN_NUMBER_UNSURE, /* perhaps to another value */
};

struct insn {
    uint8_t size;
    uint8_t flow;      /* enum insn_flow */
    uint8_t number_is; /* enum insn_number */
    /* It has the same effect at any address, once `relative` is adjusted, and does not change the
     * stack pointer. */
    bool movable;
    uint8_t relative; /* offset in the instruction of its 32-bit distance from its own end; 0: it
                         has none */
    /* It has the same effect at any address, once `distance` is adjusted, which is also such an
     * offset; it may move the stack pointer, or jump. Calls do not qualify, because the address
     * that they push depends on the place. */
    bool placeless;
    uint8_t distance;
    bool refers; /* `target` is an address that it computes and may call or jump to later */
    bool sets_number_only; /* `mov $number,%eax`, which may be a window by itself */
    int32_t number;
    int64_t target; /* minus the instruction's own address */
};

struct isa {
    uint16_t machine;  /* ELF's e_machine */
    uint8_t branch;    /* size of a branch to a stub */
    uint8_t call_size; /* size of the instruction that enters the kernel */
    /* Decodes the instruction at p[0..n). Returns its size, or 0 if there is none. */
    unsigned (*decode)(const uint8_t *p, size_t n, struct insn *out);
    /* Reason why a call of this number is never patched, or SITE_FINE. */
    enum site_reason (*judge)(int32_t number);
    int32_t thread_exit; /* number of the call that ends a thread */
    /* Whether the function at p[0..n) is glibc's __syscall_cancel_arch. */
    bool (*is_cancel_arch)(const uint8_t *p, size_t n);
    /* Whether the call after p[0..n) is that function's, or the one of musl's __syscall_cp_asm. */
    bool (*is_cancel_call)(const uint8_t *p, size_t n);
};

/* The struct isa of a machine; NULL: it is not supported. */
const struct isa *isa_of(uint16_t machine);

#endif
