/*
 * The files under render/assets, put into the program by the assembler. Its
 * .incbin is one line a file and the same for gcc and clang; a generator that
 * prints arrays would be one more program to build first, and its output slow
 * to compile.
 */
#include "render/assets.h"

#define ASSET(name, file)                                                                          \
    __asm__(".pushsection .rodata\n"                                                               \
            ".globl " #name "\n" #name ":\n"                                                       \
            ".incbin \"render/assets/" file "\"\n" #name "_end:\n"                                 \
            ".byte 0\n"                                                                            \
            ".popsection\n");                                                                      \
    extern const char name##_end[] __attribute__((visibility("hidden")));                          \
    size_t name##_len(void)                                                                        \
    {                                                                                              \
        return (size_t)(name##_end - name);                                                        \
    }

ASSET(asset_svg_js, "svg.js")
ASSET(asset_svg_css, "svg.css")
