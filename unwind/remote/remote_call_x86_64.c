#include "unwind/remote/remote_call.h"

#include <string.h>

static uintptr_t away(const uint8_t *at, uintptr_t from)
{
    int32_t by;

    memcpy(&by, at, sizeof by);
    return from + (uintptr_t)(intptr_t)by;
}

/* Size of the operand of `ff /2`, from the ModRM byte on; 0: it is no call, or longer than the
 * `room` bytes available. */
static size_t operand_size(const uint8_t *modrm, size_t room)
{
    unsigned mod = *modrm >> 6, rm = *modrm & 7;
    size_t size = 1;

    if ((*modrm >> 3 & 7) != 2)
        return 0;
    if (mod == 3)
        return size;
    if (rm == 4) {
        if (++size > room)
            return 0;
        if (mod == 0 && (modrm[1] & 7) == 5)
            return size + 4;
    } else if (mod == 0 && rm == 5) {
        return size + 4;
    }
    return size + (mod == 1 ? 1 : mod == 2 ? 4 : 0);
}

struct remote_calls remote_calls_before(const uint8_t code[CALL_BYTES], uintptr_t ra)
{
    const uint8_t *end = code + CALL_BYTES;
    struct remote_calls c = {.direct = end[-5] == 0xe8};

    if (c.direct)
        c.target = away(end - 4, ra);
    for (size_t size = 1; size < CALL_BYTES; size++) {
        const uint8_t *modrm = end - size;

        if (modrm[-1] != 0xff || operand_size(modrm, size) != size)
            continue;
        if (*modrm == 0x15) {
            c.slot = true;
            c.slot_at = away(modrm + 1, ra);
        } else {
            c.any = true;
        }
    }
    return c;
}

uintptr_t remote_stub_slot(const uint8_t code[STUB_BYTES], uintptr_t at)
{
    static const uint8_t endbr64[] = {0xf3, 0x0f, 0x1e, 0xfa};
    size_t i = memcmp(code, endbr64, sizeof endbr64) == 0 ? sizeof endbr64 : 0;

    i += code[i] == 0xf2; /* bnd */
    if (code[i] != 0xff || code[i + 1] != 0x25)
        return 0;
    return away(code + i + 2, at + i + 6);
}
