/* cutcall.h: a call that was cut short, as it was made. */
#ifndef FLAME_TRACER_PTRACE_CUTCALL_H
#define FLAME_TRACER_PTRACE_CUTCALL_H

#include <stdbool.h>
#include <stdint.h>

/* A call that the kernel interrupted and may continue. */
struct cut_call {
    bool is;
    int nr;
    uint64_t args[6];
    uintptr_t pc, sp; /* return address and stack pointer */
};

#endif
