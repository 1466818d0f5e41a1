/*
 * remote_prologue.h: properties of a function's frame, read from its first instructions.
 *
 * x86-64 encodings: Intel SDM vol. 2. Only forms that compilers write are understood; others yield
 * nothing. Pure functions.
 */
#ifndef FLAME_UNWIND_REMOTE_REMOTE_PROLOGUE_H
#define FLAME_UNWIND_REMOTE_REMOTE_PROLOGUE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Number of bytes that suffice for a function's prologue. */
#define PROLOGUE_BYTES 192

struct remote_prologue {
    uint32_t
        size; /* number of bytes below the frame pointer that it reserves at once; 0: not known. In
                 a function that reserves no more later, the stack pointer is there. */
    int32_t canary; /* offset from the frame pointer of the stack protector's word; 0: none was
                     * found */
};

struct remote_prologue remote_prologue(const uint8_t *code, size_t n);

/* Whether this can be the protector's word. One of its two lowest bytes is 0 (so that no string
 * copies over it), and the rest is random. */
static inline bool remote_is_canary(uint64_t word)
{
    return (!(word & 0xff) || !(word & 0xff00)) && word >> 32;
}

#endif
