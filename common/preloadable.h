/*
 * preloadable.h: can a preloaded library get into this program, and would it harm it?
 *
 * LD_PRELOAD is a request to the dynamic loader, and the loader is silent about requests it does
 * not honour. A static program, one of another architecture, or one that gains privileges runs
 * without the library. Worse, musl's loader and gcc's sanitizers end the program over a library
 * they did not expect. So the file is examined first, the way exec finds it: PATH, `#!` lines, then
 * the ELF header.
 *
 * The driver checks before it runs a command, the recorder before its program executes another:
 * nothing here allocates, locks, or calls what could be interposed, and all of it works between
 * vfork and exec and in signal handlers. Stack: about 2.5 KiB. Preserves errno.
 */
#ifndef FLAME_COMMON_PRELOADABLE_H
#define FLAME_COMMON_PRELOADABLE_H

#include <stdbool.h>

#include "common/compiler.h"

enum preloadable {
    PRELOADABLE_YES,
    PRELOADABLE_UNKNOWN,   /* may be executed but not read: no verdict is possible */
    PRELOADABLE_NO_FILE,   /* it, or the interpreter it names, cannot be run: `err` */
    PRELOADABLE_NO_FORMAT, /* neither ELF nor script: execvp gives it to the shell */
    PRELOADABLE_DAMAGED,
    PRELOADABLE_STATIC,
    PRELOADABLE_MACHINE, /* another processor or word size */
    PRELOADABLE_MUSL,    /* the program uses musl, the library the GNU C library */
    PRELOADABLE_GNU,     /* the program uses the GNU C library, the library musl */
    PRELOADABLE_SANITIZER,
    PRELOADABLE_LEAK_SANITIZER, /* LeakSanitizer alone: it can be recorded, but not checked for
                                   leaks */
    PRELOADABLE_SETUID,
    PRELOADABLE_SETGID,
    PRELOADABLE_CAPABILITIES,
};

/* The kernel reads this much of a file to find its format. */
#define PRELOADABLE_HEAD 256

/* The first bytes of an ELF file that say for what machine it is, and its C library. */
struct preloadable_machine {
    unsigned char word, order; /* e_ident[EI_CLASS] and [EI_DATA] */
    bool musl;                 /* it is musl, not the GNU C library */
    uint16_t processor;        /* e_machine */
};

/* The machine that this file is compiled for. */
extern const struct preloadable_machine preloadable_here;

struct preloadable_answer {
    enum preloadable verdict;
    int err; /* of PRELOADABLE_NO_FILE: an errno, positive; ELOOP for scripts of scripts */
    /* The interpreter of the last `#!` line that was followed; "": the file is no script. */
    char interpreter[PRELOADABLE_HEAD];
};

/* Judges the file at `path` for a library of machine `ours`. */
void preloadable_judge(const char *path, const struct preloadable_machine *ours,
                       struct preloadable_answer *answer);

/* Whether the kernel would let this process (its effective ids) access the file: R_OK, W_OK, X_OK
 * or F_OK as access(2) has them. 0, or an errno. */
int preloadable_access(const char *path, int mode);

/* 0, or the errno for which execve would not take the file at `path`. */
int preloadable_executable(const char *path);

/*
 * Looks `name`, which has no slash, up in the directories of `dirs` (NULL: those the C library
 * takes when PATH is not set). 0: its path is in buf. Else an errno: EACCES when a file of that
 * name exists and may not be executed, ENOENT, ENAMETOOLONG.
 */
int preloadable_find(const char *name, const char *dirs, char *buf, size_t size);

#endif
