/*
 * calls_aarch64.h: calls of aarch64 alone, for the table in calls.c. There are none: its calls are
 * those of the kernel's asm-generic/unistd.h, which all other processors have too.
 */
#ifndef FLAME_TRACER_OFFCPU_CALLS_AARCH64_H
#define FLAME_TRACER_OFFCPU_CALLS_AARCH64_H

#define CALLS_OF_PROCESSOR

#endif
