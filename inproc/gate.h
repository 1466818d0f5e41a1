/*
 * gate.h: the one `syscall` instruction by which the library of waits enters the kernel.
 *
 * It lies in its own library, libflamegate.so, which is linked for a fixed address. The dynamic
 * loader maps a library at its link address if that is free (before glibc 2.36 it does so only in a
 * program that is not position-independent). So the filter of a traced command
 * (tracer/ptrace/callfilter.h) can allow calls that return to GATE_RETURN, and have all others stop
 * for the tracer. A caller of the gate has logged the call itself.
 *
 * The kernel never chooses the address by itself: it is below the lowest place of a
 * position-independent program, and above the heap of one that is not. A caller checks
 * gate_is_in_place first; if it is false, calls by the gate would stop for the tracer as well.
 */
#ifndef FLAME_INPROC_GATE_H
#define FLAME_INPROC_GATE_H

#include "patch/patcher.h"

/* The Makefile links the library for GATE_LIBRARY and its code for GATE_CODE. */
#define GATE_LIBRARY 0x7a3c0000
#define GATE_CODE 0x7a3c8000

/* Instruction pointer in a call by the gate: just after the instruction. */
#define GATE_RETURN (GATE_CODE + PATCH_RAW_RETURN)

/* Makes the call: number and arguments of *call. A patch_enter_kernel. */
__attribute__((visibility("default"))) long flame_gate(const struct patch_call *call);

static inline bool gate_is_in_place(void)
{
    return (uintptr_t)flame_gate == GATE_CODE;
}

#endif
