/* stackregs.h: registers in the form that walks need, by the processor's file. */
#ifndef FLAME_TRACER_STACKS_STACKREGS_H
#define FLAME_TRACER_STACKS_STACKREGS_H

#if defined(__x86_64__)
#include "tracer/stacks/stackregs_x86_64.h"
#else
#include "tracer/stacks/stackregs_aarch64.h"
#endif

#endif
