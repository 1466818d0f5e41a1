/* known.supp as a part of the program, as render/backends/assets.c has its files. */
#include "driver/suppress/builtin_suppressions.h"

__asm__(".pushsection .rodata\n"
        ".globl known_supp, known_supp_end\n"
        "known_supp:\n"
        ".incbin \"driver/suppress/known.supp\"\n"
        "known_supp_end:\n"
        ".byte 0\n"
        ".popsection\n");

extern const char known_supp_end[] __attribute__((visibility("hidden")));

size_t known_supp_len(void)
{
    return (size_t)(known_supp_end - known_supp);
}
