/*
 * librarynote.h: the ELF note that identifies the libraries that flame loads into a program. The
 * tracer finds them by it (tracer/stacks/image.h), because their frames are no part of the
 * program's stacks.
 *
 * The note's name is LIBRARY_NOTE_NAME, its type an enum library_note. The memory recorder's note
 * has a description: the begin and the end of the section of LIBRARY_OWN functions. All calls made
 * in that section are the recorder's own work, including the functions that they call. Begin and
 * end are two 32-bit distances, each from its own place in the note. In the recorder's other
 * functions only their own system calls are the recorder's: calls into other modules are made in
 * the program's place.
 */
#ifndef FLAME_COMMON_ENV_LIBRARYNOTE_H
#define FLAME_COMMON_ENV_LIBRARYNOTE_H

#include "common/compiler.h"

#define LIBRARY_NOTE_NAME "FLM"

enum library_note {
    LIBRARY_NONE = 0,     /* no note: a module of the program */
    LIBRARY_WAITS = 1,    /* inproc/lib/ and inproc/gate/ */
    LIBRARY_RECORDER = 2, /* preload/ */
};

/* Notes as assembly text; each is for one __asm__ at the top of a file. */
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

/* Attribute of a function in which everything is the recorder's own work. The function must not end
 * with a tail call, which would remove its frame. */
#define LIBRARY_OWN __attribute__((noinline, section("flame_own")))

#endif
