/*
 * epilogue.h: the rule for code without tables that is about to return.
 *
 * A trampoline between an interpreter and a frame of it (CPython's for perf: sub, call, add, ret)
 * has no frame pointer. But the code after its call shows where the return address lies: `add
 * N,%rsp`, some `pop`, `ret`; on aarch64 `ldp`, `ldr` and `add` of the stack pointer. Encodings:
 * Intel SDM vol. 2; Arm ARM (DDI 0487), section C4.1.
 */
#ifndef FLAME_UNWIND_EPILOGUE_H
#define FLAME_UNWIND_EPILOGUE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/processor/arch.h"
#include "unwind/cfi.h"

/* Limit of an epilogue's length in bytes. */
#define EPILOGUE_BYTES 24

/* The rule at the instruction with which code[0..n) begins (a return address points to it).
 * RULE_NONE: that code does not lead straight to a `ret`. */
struct rule epilogue_rule(const uint8_t *code, size_t n);

/* Whether a frame that returns by `rule` also has a frame pointer that leads to its caller. On
 * aarch64, code that saves that register also makes it point to the saved value. */
static inline bool epilogue_has_frame(struct rule rule)
{
    return ARCH_LINK && rule.bp_saved;
}

/* Number of bytes before a return address in which a call is searched for. */
#define EPILOGUE_CALL_BYTES 5

/* Whether a call ends at code[EPILOGUE_CALL_BYTES]: one through a register, or one to an address in
 * the instruction. */
bool epilogue_follows_call(const uint8_t *code);

#endif
