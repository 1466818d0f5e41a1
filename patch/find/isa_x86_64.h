/*
 * isa_x86_64.h: x86-64's instructions, as far as the search for sites needs them.
 *
 * Source: the manuals' opcode maps (Intel's volume 2, appendix A; AMD's volume 3, appendix A).
 */
#ifndef FLAME_PATCH_FIND_ISA_X86_64_H
#define FLAME_PATCH_FIND_ISA_X86_64_H

#include "patch/find/isa.h"

extern const struct isa isa_x86_64;

#endif
