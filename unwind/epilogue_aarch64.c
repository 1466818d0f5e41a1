#include "unwind/epilogue.h"

#include <string.h>

#define FP 29u
#define LR 30u
#define SP 31u

#define AUTIASP 0xd50323bfu
#define RET 0xd65f03c0u
#define RETAA 0xd65f0bffu

/* State of the search for `ret`: offsets are from the stack pointer at the start. */
struct epilogue {
    int32_t sp;
    int32_t fp_at, lr_at; /* -1: not restored */
};

/* `bits` lowest bits of `value`, with their sign. */
static int32_t sign(uint32_t value, unsigned bits)
{
    return (int32_t)(value << (32 - bits)) >> (32 - bits);
}

static void loaded(struct epilogue *e, unsigned reg, int32_t at)
{
    if (reg == FP)
        e->fp_at = at;
    if (reg == LR)
        e->lr_at = at;
}

/* Follows an instruction that restores registers or frees stack. False: it does neither. */
static bool follow(struct epilogue *e, uint32_t insn)
{
    unsigned first = insn & 31, base = insn >> 5 & 31, second = insn >> 10 & 31;
    int32_t by;

    if (base != SP)
        return false;
    if ((insn & 0xffc00000) == 0xa9400000 || (insn & 0xffc00000) == 0xa8c00000) { /* ldp */
        bool after = (insn & 0xffc00000) == 0xa8c00000;

        by = sign(insn >> 15 & 0x7f, 7) * 8;
        loaded(e, first, e->sp + (after ? 0 : by));
        loaded(e, second, e->sp + (after ? 0 : by) + 8);
        e->sp += after ? by : 0;
        return by >= 0;
    }
    if ((insn & 0xffc00000) == 0xf9400000) { /* ldr, at an offset */
        loaded(e, first, e->sp + (int32_t)(insn >> 10 & 0xfff) * 8);
        return true;
    }
    if ((insn & 0xffe00c00) == 0xf8400400) { /* ldr, and then sp is moved */
        by = sign(insn >> 12 & 0x1ff, 9);
        loaded(e, first, e->sp);
        e->sp += by;
        return by >= 0;
    }
    if ((insn & 0xff800000) == 0x91000000 && first == SP) { /* add sp, sp */
        by = (int32_t)(insn >> 10 & 0xfff);
        e->sp += insn & 1u << 22 ? by << 12 : by;
        return e->sp <= 1 << 20;
    }
    return false;
}

bool epilogue_follows_call(const uint8_t *code)
{
    uint32_t insn;

    memcpy(&insn, code + EPILOGUE_CALL_BYTES - sizeof insn, sizeof insn);
    return insn >> 26 == 0x25 || (insn & 0xfffffc1f) == 0xd63f0000; /* bl, blr */
}

struct rule epilogue_rule(const uint8_t *code, size_t n)
{
    const struct rule none = {.kind = RULE_NONE};
    struct epilogue e = {.fp_at = -1, .lr_at = -1};
    uint32_t insn;

    for (size_t at = 0; at + sizeof insn <= n; at += sizeof insn) {
        memcpy(&insn, code + at, sizeof insn);
        if (insn == RET || insn == RETAA) {
            bool pair = e.fp_at >= 0;

            if (e.lr_at < 0 || e.lr_at >= e.sp || (pair && e.lr_at != e.fp_at + 8))
                return none;
            return (struct rule){.kind = RULE_CFA_SP,
                                 .cfa_offset = e.sp,
                                 .bp_saved = pair,
                                 .bp_offset = (pair ? e.fp_at : e.lr_at) - e.sp};
        }
        if (insn != AUTIASP && !follow(&e, insn))
            return none;
    }
    return none;
}
