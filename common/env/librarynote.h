/*
 * librarynote.h: the ELF note by which flame's tracer knows the libraries that flame puts into a
 * program (tracer/stacks/image.h): their frames are no part of the program's stacks.
 *
 * The note's name is LIBRARY_NOTE_NAME, its type an enum library_note. That of the recorder of
 * memory has a description: where the functions begin and end in which everything is the
 * recorder's own doing, whoever they call (LIBRARY_OWN), as two 32-bit distances, each from its own
 * place in the note. Of all its other functions only what they ask of the kernel themselves is:
 * what they call in other modules, they call in the program's place.
 */
#ifndef FLAME_COMMON_ENV_LIBRARYNOTE_H
#define FLAME_COMMON_ENV_LIBRARYNOTE_H

#include "common/compiler.h"

#define LIBRARY_NOTE_NAME "FLM"

enum library_note {
    LIBRARY_NONE = 0,     /* in no note: a module of the program's */
    LIBRARY_WAITS = 1,    /* inside/wait/ and inside/gate/ */
    LIBRARY_RECORDER = 2, /* preload/ */
};

/* Each is for one __asm__ at the top of a file. */
#define LIBRARY_NOTE_WAITS                                                                         \
    ".pushsection .note.flame,\"a\",@note\n"                                                       \
    ".p2align 2\n"                                                                                 \
    ".long 4, 0, 1\n"                                                                              \
    ".asciz \"" LIBRARY_NOTE_NAME "\"\n"                                                           \
    ".popsection\n"

#define LIBRARY_NOTE_RECORDER                                                                      \
    ".pushsection .note.flame,\"a\",@note\n"                                                       \
    ".p2align 2\n"                                                                                 \
    ".long 4, 8, 2\n"                                                                              \
    ".asciz \"" LIBRARY_NOTE_NAME "\"\n"                                                           \
    ".hidden __start_flame_own\n"                                                                  \
    ".hidden __stop_flame_own\n"                                                                   \
    ".long __start_flame_own - .\n"                                                                \
    ".long __stop_flame_own - .\n"                                                                 \
    ".popsection\n"

/* Of a function in which everything is the recorder's own doing. It may not end by calling
 * another: its frame would be gone by then. */
#define LIBRARY_OWN __attribute__((noinline, section("flame_own")))

#endif
