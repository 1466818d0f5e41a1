/* cutcall.h: a call that was cut short, as it was made. */
#ifndef FLAME_TRACER_PTRACE_CUTCALL_H
#define FLAME_TRACER_PTRACE_CUTCALL_H

#include <stdbool.h>
#include <stdint.h>

/* A call the kernel interrupted and may go on with. */
struct cut_call {
    bool is;
    int nr;
    uint64_t args[6];
    uintptr_t pc, sp; /* where it returns to */
};

#endif
