/*
 * epilogue.h: the rule for code without tables that is about to return.
 *
 * A trampoline between an interpreter and a frame of it (CPython's for perf: sub, call,
 * add, ret) keeps no frame pointer, but the code behind its call says itself where the
 * return address lies: `add N,%rsp`, some `pop`, `ret`; on aarch64 `ldp`, `ldr` and `add` of the
 * stack pointer. Encodings: Intel SDM vol. 2; Arm ARM (DDI 0487), section C4.1.
 */
#ifndef FLAME_UNWIND_EPILOGUE_H
#define FLAME_UNWIND_EPILOGUE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/processor/arch.h"
#include "unwind/cfi.h"

/* No epilogue that is understood is longer. */
#define EPILOGUE_BYTES 24

/* The rule at the instruction with which code[0..n) begins (a return address points to it);
 * RULE_NONE if that code does not lead straight to a `ret`. */
struct rule epilogue_rule(const uint8_t *code, size_t n);

/* Whether a frame that returns so has a frame pointer which leads to its caller just as well: on
 * aarch64 whoever saves that register points it to where it saved it. */
static inline bool epilogue_has_frame(struct rule rule)
{
    return ARCH_LINK && rule.bp_saved;
}

/* Bytes before a return address in which a call is looked for. */
#define EPILOGUE_CALL_BYTES 5

/* Whether a call ends where code[EPILOGUE_CALL_BYTES] is: of a register, or of an address that the
 * instruction has. */
bool epilogue_follows_call(const uint8_t *code);

#endif
