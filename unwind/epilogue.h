/*
 * epilogue.h: the rule for code without tables that is about to return.
 *
 * A trampoline between an interpreter and a frame of it (CPython's for perf: sub, call,
 * add, ret) keeps no frame pointer, but the code behind its call says itself where the
 * return address lies: `add N,%rsp`, some `pop`, `ret`. x86-64 encodings: Intel SDM vol. 2.
 */
#ifndef FLAME_UNWIND_EPILOGUE_H
#define FLAME_UNWIND_EPILOGUE_H

#include <stddef.h>
#include <stdint.h>

#include "unwind/cfi.h"

/* No epilogue that is understood is longer. */
#define EPILOGUE_BYTES 24

/* The rule at the instruction with which code[0..n) begins (a return address points to it);
 * RULE_NONE if that code does not lead straight to a `ret`. */
struct rule epilogue_rule(const uint8_t *code, size_t n);

#endif
