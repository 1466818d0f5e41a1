#include "unwind/remote/remote_prologue.h"

#include <string.h>

#define BEGIN_MAX 32 /* bytes before the frame pointer is set up */
#define STORE_MAX 24 /* from loading the protector's word to storing it */

/* Offset of the code after `mov %rsp,%rbp`; 0: that is not at the beginning. */
static size_t frame_begin(const uint8_t *code, size_t n)
{
    for (size_t at = 1; at + 3 <= n && at < BEGIN_MAX; at++)
        if (code[at] == 0x48 && ((code[at + 1] == 0x89 && code[at + 2] == 0xe5) ||
                                 (code[at + 1] == 0x8b && code[at + 2] == 0xec)))
            return at + 3;
    return 0;
}

/* Number of bytes by which pushes and a subtraction move the stack pointer from `at` on. */
static uint32_t size_taken(const uint8_t *code, size_t n, size_t at)
{
    uint32_t size = 0, by;

    for (; at < n; size += 8) {
        size_t wide = code[at] == 0x41;

        if (at + wide >= n || (code[at + wide] & 0xf8) != 0x50)
            break;
        at += wide + 1;
    }
    if (at + 4 <= n && code[at] == 0x48 && code[at + 1] == 0x83 && code[at + 2] == 0xec)
        return code[at + 3] & 0x80 ? size + 128 : size + code[at + 3];
    if (at + 7 <= n && code[at] == 0x48 && code[at + 1] == 0x81 && code[at + 2] == 0xec) {
        memcpy(&by, code + at + 3, sizeof by);
        return by < 1u << 20 ? size + by : size;
    }
    return size;
}

/* `mov %fs:0x28,%REG` and then `mov %REG,DISP(%rbp)`. */
static int32_t canary_at(const uint8_t *code, size_t n)
{
    static const uint8_t guard[] = {0x25, 0x28, 0, 0, 0};

    for (size_t at = 0; at + 9 <= n; at++) {
        uint8_t rex = code[at + 1], reg = code[at + 3] & 0x38;

        if (code[at] != 0x64 || (rex & 0xfb) != 0x48 || code[at + 2] != 0x8b ||
            (code[at + 3] & 0xc7) != 0x04 || memcmp(code + at + 4, guard, sizeof guard) != 0)
            continue;
        for (size_t to = at + 9; to + 7 <= n && to < at + 9 + STORE_MAX; to++) {
            int32_t wide;

            if (code[to] != rex || code[to + 1] != 0x89)
                continue;
            if (code[to + 2] == (0x45 | reg))
                return (int8_t)code[to + 3];
            memcpy(&wide, code + to + 3, sizeof wide);
            if (code[to + 2] == (0x85 | reg))
                return wide;
        }
    }
    return 0;
}

struct remote_prologue remote_prologue(const uint8_t *code, size_t n)
{
    size_t begin = frame_begin(code, n);
    struct remote_prologue p = {0, 0};

    if (begin) {
        p.size = size_taken(code, n, begin);
        p.canary = canary_at(code, n);
    }
    return p;
}
