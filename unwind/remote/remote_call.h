/*
 * remote_call.h: the target of the call instruction before a return address.
 *
 * x86-64 encodings: Intel SDM vol. 2, CALL and JMP; the System V ABI's x86-64 supplement for the
 * procedure linkage table. Instructions cannot be decoded backwards with certainty, so the result
 * contains every call that the bytes may be. Pure functions.
 */
#ifndef FLAME_UNWIND_REMOTE_REMOTE_CALL_H
#define FLAME_UNWIND_REMOTE_REMOTE_CALL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Size of the longest call: an opcode, its operand with SIB and displacement. A prefix before that
 * makes no difference here. */
#define CALL_BYTES 7

struct remote_calls {
    bool direct;      /* of the function at `target`, or of a stub there */
    bool slot;        /* through the word at `slot_at` */
    bool any;         /* through a register or an unknown word */
    uintptr_t target; /* of `direct` */
    uintptr_t slot_at;
};

/* `code`: the CALL_BYTES bytes before `ra`. All false: there is no call. */
struct remote_calls remote_calls_before(const uint8_t code[CALL_BYTES], uintptr_t ra);

/* Number of bytes of code by which a stub is recognised. */
#define STUB_BYTES 16

/* Address of the word that the code at `at` jumps through, if it is nothing but such a jump (a
 * linkage table's); otherwise 0. */
uintptr_t remote_stub_slot(const uint8_t code[STUB_BYTES], uintptr_t at);

#endif
