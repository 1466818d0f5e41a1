/*
 * step_aarch64.h: processor-specific part of a step (step.h).
 *
 * A frame record is the saved frame pointer with the return address above it. It may lie anywhere
 * in its frame; gcc puts it at the lowest address.
 */
#ifndef FLAME_UNWIND_STEP_AARCH64_H
#define FLAME_UNWIND_STEP_AARCH64_H

#include "unwind/rules.h"

/* Address of a frame's saved return address; cfi.h explains bp_offset. */
static inline uintptr_t step_ra_at(packed_rule rule, uintptr_t cfa)
{
    return cfa + (uintptr_t)rule_bp_offset(rule) + (rule_bp_saved(rule) ? 8 : 0);
}

#endif
