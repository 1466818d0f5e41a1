#include "unwind/epilogue.h"

#include <string.h>

/* Size of the instruction `add $N,%rsp`, and its N; 0: it is another instruction. */
static size_t add_to_sp(const uint8_t *code, size_t n, int32_t *by)
{
    static const uint8_t add8[] = {0x48, 0x83, 0xc4}, add32[] = {0x48, 0x81, 0xc4};

    if (n >= 4 && memcmp(code, add8, 3) == 0) {
        *by = (int8_t)code[3];
        return 4;
    }
    if (n >= 7 && memcmp(code, add32, 3) == 0) {
        memcpy(by, code + 3, sizeof *by);
        return 7;
    }
    return 0;
}

bool epilogue_follows_call(const uint8_t *code)
{
    bool by_register =
        code[3] == 0xff && (code[4] & 0xf8) == 0xd0; /* FF /2; r8 to r15: 41 before */

    return by_register || code[0] == 0xe8; /* E8 rel32 */
}

struct rule epilogue_rule(const uint8_t *code, size_t n)
{
    const struct rule none = {.kind = RULE_NONE};
    int32_t cfa = 0, bp_at = -1;
    size_t at = add_to_sp(code, n, &cfa);

    if (cfa < 0 || cfa & 7 || cfa > 1 << 20)
        return none;
    for (; at < n && code[at] != 0xc3; cfa += 8) {
        size_t wide = code[at] == 0x41; /* r8 to r15 */

        if (at + wide >= n || (code[at + wide] & 0xf8) != 0x58)
            return none;
        if (!wide && code[at] == 0x5c) /* pop %rsp */
            return none;
        if (!wide && code[at] == 0x5d)
            bp_at = cfa;
        at += wide + 1;
    }
    if (at >= n)
        return none;
    cfa += 8;
    return (struct rule){.kind = RULE_CFA_SP,
                         .cfa_offset = cfa,
                         .bp_saved = bp_at >= 0,
                         .bp_offset = bp_at >= 0 ? bp_at - cfa : 0};
}
