/*
 * symbols.h: from an address in a module to the functions it lies in.
 *
 * One `struct symbols` serves any number of traces: a file is opened once, when
 * the first address in it is asked for. Everything handed out lives until
 * symbols_free. Not thread-safe.
 */
#ifndef FLAME_FOLD_SYMBOLS_SYMBOLS_H
#define FLAME_FOLD_SYMBOLS_SYMBOLS_H

#include <stdbool.h>

#include "common/compiler.h"
#include "common/trace/namepack.h"
#include "fold/stacks/missing_symbols.h"

struct symbol_options {
    bool no_demangle;
    bool no_inline;                /* only the functions that symbols name */
    bool lines;                    /* find file and line, too */
    const char *const *debug_dirs; /* besides the usual ones; borrowed */
    size_t ndebug_dirs;
    bool files_first; /* names that a trace carries only complete those of the files; with
                         debug_dirs that is so in any case */
    /* For fold/fold_in_child.c: modules whose debug information is not to be read, and a buffer for
       the path of the one being read (SYMBOLS_PATH_MAX bytes, or NULL). */
    const char *const *distrusted;
    size_t ndistrusted;
    char *reading;
};

#define SYMBOLS_PATH_MAX 4096

struct symbols;
struct symbol_module;

struct symbol_frame {
    const char *name; /* not NUL-terminated, any bytes */
    size_t len;
    const char *raw; /* the name as the file has it, not demangled; not NUL-terminated */
    size_t raw_len;
    bool inlined;     /* has no frame of its own on the stack */
    const char *path; /* path of the source file, NUL-terminated, or NULL */
    const char *file; /* last component of `path`, or NULL */
    unsigned line;
};

/* Outermost first. */
struct symbol_frames {
    const struct symbol_frame *frame;
    size_t n; /* 0: nothing is known */
};

struct symbols *symbols_new(const struct symbol_options *opt);
void symbols_free(struct symbols *s);

/*
 * Adds the names that a trace carries, for modules that are requested from now on; NULL is
 * allowed. They take precedence over the present files.
 */
void symbols_use_names(struct symbols *s, const struct namepack *names);

/*
 * The module mapped from `path` whose file had this build-id. id_len 0: it had none; the present
 * file is then used if it has this layout (unwind/elflayout.h), or if `layout` is 0. When the
 * file has changed since, its symbols are not used.
 */
struct symbol_module *symbols_module(struct symbols *s, const char *path, const uint8_t *id,
                                     size_t id_len, uint32_t layout);

/*
 * Process `pid` has the module mapped. If it runs in another mount namespace, as in a container,
 * and its file is not here or is another one, the file is read below the process's root. Call it
 * before the first address is looked up; the first process counts.
 */
void symbols_mapped_by(struct symbol_module *m, uint32_t pid);

/* Whether the module's file is the one that was mapped, as far as names were looked up in it. */
enum namepack_state symbols_state(const struct symbol_module *m);

/* Adds the modules in which names were looked up and whose files are gone or have changed. */
void symbols_add_lost(const struct symbols *s, struct missing_symbols *to);
/* Prints the modules of symbols_add_lost on standard error, a line for each; if there are many,
 * only the first ones. */
void symbols_say_lost(const struct symbols *s);

/* Names on standard error the files whose debug information is there and is not read, or not as a
 * whole, with what is missing; of many, the first. */
void symbols_say_unread(const struct symbols *s);

/* Prints one line if most addresses that were looked up have no name: the module with most of
 * these, and where its symbols can be found. */
void symbols_say_unnamed(const struct symbols *s);

/* The functions to which the instruction at `vaddr` (an address of the file) belongs. */
struct symbol_frames symbols_find(struct symbols *s, struct symbol_module *m, uint64_t vaddr);

/* The variable that `vaddr` lies in, by the same tables. */
struct symbol_object {
    const char *name; /* not NUL-terminated; NULL: none is known */
    size_t len;
    uint64_t offset, size; /* the offset of vaddr in it, and its size */
    const char *raw;       /* the name as the file has it, not demangled; not NUL-terminated */
    size_t raw_len;
};
struct symbol_object symbols_object(struct symbols *s, struct symbol_module *m, uint64_t vaddr);

/* True where a variable begins at `vaddr`. */
bool symbols_is_object(struct symbols *s, struct symbol_module *m, uint64_t vaddr);

/* The path of the module's debug information, and in *alternate that of the file of shared parts or
 * NULL. The caller frees both. NULL: there is none, or the module is one of the distrusted. */
char *symbols_debug_file(struct symbols *s, struct symbol_module *m, char **alternate);

/* The caller is about to read the module's debug information: its path goes to opt.reading. */
void symbols_note_reading(struct symbols *s, const struct symbol_module *m);

/*
 * True when `vaddr` is the first instruction of the code that a signal handler returns to. Its
 * caller did not call it, but was interrupted.
 */
bool symbols_is_sigreturn(struct symbols *s, struct symbol_module *m, uint64_t vaddr);

#endif
