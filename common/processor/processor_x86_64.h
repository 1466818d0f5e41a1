/* processor_x86_64.h: see processor.h. */
#ifndef FLAME_COMMON_PROCESSOR_PROCESSOR_X86_64_H
#define FLAME_COMMON_PROCESSOR_PROCESSOR_X86_64_H

#if defined(__x86_64__)

#include <elf.h>
#include <linux/audit.h>
#include <stdint.h>

#define PROCESSOR_NAME "x86_64"
#define PROCESSOR_ELF EM_X86_64
#define PROCESSOR_AUDIT AUDIT_ARCH_X86_64
#define PROCESSOR_LOGS_CALLS 1
#define PROCESSOR_VALGRIND "amd64"
#define PROCESSOR_ADDRESS_BITS 47 /* of addresses that programs have */
#define PROCESSOR_CLOCKSOURCE "tsc"

static inline long processor_call(long number, const unsigned long a[6])
{
    register unsigned long r10 __asm__("r10") = a[3];
    register unsigned long r8 __asm__("r8") = a[4];
    register unsigned long r9 __asm__("r9") = a[5];
    long result;

    __asm__ volatile("syscall"
                     : "=a"(result)
                     : "a"(number), "D"(a[0]), "S"(a[1]), "d"(a[2]), "r"(r10), "r"(r8), "r"(r9)
                     : "rcx", "r11", "memory");
    return result;
}

static inline uint64_t processor_ticks(void)
{
    return __builtin_ia32_rdtsc();
}

#endif
#endif
