/* processor_aarch64.h: see processor.h. */
#ifndef FLAME_COMMON_PROCESSOR_PROCESSOR_AARCH64_H
#define FLAME_COMMON_PROCESSOR_PROCESSOR_AARCH64_H

#if defined(__aarch64__)

#include <elf.h>
#include <linux/audit.h>
#include <stdint.h>

#define PROCESSOR_NAME "aarch64"
#define PROCESSOR_ELF EM_AARCH64
#define PROCESSOR_AUDIT AUDIT_ARCH_AARCH64
#define PROCESSOR_LOGS_CALLS 0
#define PROCESSOR_VALGRIND "arm64"
#define PROCESSOR_ADDRESS_BITS 48 /* of addresses that programs have; more only on request */

static inline long processor_call(long number, const unsigned long a[6])
{
    register long x8 __asm__("x8") = number;
    register unsigned long x0 __asm__("x0") = a[0];
    register unsigned long x1 __asm__("x1") = a[1];
    register unsigned long x2 __asm__("x2") = a[2];
    register unsigned long x3 __asm__("x3") = a[3];
    register unsigned long x4 __asm__("x4") = a[4];
    register unsigned long x5 __asm__("x5") = a[5];

    __asm__ volatile("svc 0"
                     : "+r"(x0)
                     : "r"(x8), "r"(x1), "r"(x2), "r"(x3), "r"(x4), "r"(x5)
                     : "memory");
    return (long)x0;
}

/*
 * No counter: where the kernel works around a fault of one (cntvct_el0), the clock source's name
 * does not say so.
 */

#endif
#endif
