/*
 * processor.h: all that common/ and code built on it must know about the processor, beside what
 * unwinding needs (common/processor/arch.h). One file for each processor; docs/ports.md lists what
 * else a new one needs.
 *
 * Each defines
 *   PROCESSOR_NAME      as uname(2) has it
 *   PROCESSOR_ELF       e_machine of its programs
 *   PROCESSOR_AUDIT     what seccomp_data.arch is for its calls (linux/audit.h)
 *   PROCESSOR_LOGS_CALLS     1: programs can log their own calls (flame off --in-process); 0: not
 * yet PROCESSOR_VALGRIND  how valgrind spells it in the names of its files processor_call() enters
 * the kernel: a call with six arguments; its result, or -errno and, if it has a counter that
 * age_clock.c can use, PROCESSOR_CLOCKSOURCE  what the kernel calls the counter where it is good:
 * the same on all processors, and never stopping processor_ticks()      reads it
 */
#ifndef FLAME_COMMON_PROCESSOR_PROCESSOR_H
#define FLAME_COMMON_PROCESSOR_PROCESSOR_H

#if defined(__x86_64__)
#include "common/processor/processor_x86_64.h"
#elif defined(__aarch64__)
#include "common/processor/processor_aarch64.h"
#else
#error "flame knows x86-64 and aarch64; docs/ports.md says where a new processor starts"
#endif

#endif
