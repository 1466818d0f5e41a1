/* step_x86_64.h: processor-specific part of a step (step.h). */
#ifndef FLAME_UNWIND_STEP_X86_64_H
#define FLAME_UNWIND_STEP_X86_64_H

#include "unwind/rules.h"

/* Address of a frame's saved return address. */
static inline uintptr_t step_ra_at(packed_rule rule, uintptr_t cfa)
{
    (void)rule;
    return cfa - 8;
}

#endif
