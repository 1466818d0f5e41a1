/*
 * nowhere.c ADDRESS: allocates 1,234 bytes in a function that would return to ADDRESS (hexadecimal,
 * as a program does whose stack is damaged or is not one), and ends there with status 3.
 */
#include <stdint.h>
#include <stdlib.h>

void *volatile kept;
static uintptr_t stack[8192] __attribute__((aligned(16)));

__attribute__((noinline)) void lost(void)
{
    kept = malloc(1234);
    exit(3);
}

int main(int argc, char **argv)
{
    uintptr_t *sp = stack + 8192 - 16;

    sp[-1] = argc > 1 ? strtoull(argv[1], NULL, 16) : 0;
    sp[0] = 0;
#if defined(__x86_64__)
    __asm__ volatile("mov %0, %%rsp; xor %%ebp, %%ebp; jmp *%1"
                     :
                     : "r"(sp - 1), "r"(lost)
                     : "memory");
#else
    __asm__ volatile("mov x30, %2; mov sp, %0; mov x29, xzr; br %1"
                     :
                     : "r"(sp), "r"(lost), "r"(sp[-1])
                     : "memory", "x30");
#endif
    return 1;
}
