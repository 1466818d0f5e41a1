/*
 * keptnames.h: names of addresses of a process, each with a number.
 */
#ifndef FLAME_DRIVER_KEPT_KEPTNAMES_H
#define FLAME_DRIVER_KEPT_KEPTNAMES_H

#include "driver/kept/keptspace.h"
#include "fold/stacks/hashslots.h"
#include "fold/symbols/symbols.h"

#define KEPTNAMES_DISTRUSTED_MAX 16

struct keptnames {
    const struct keptspace *space; /* borrowed */
    struct symbols *symbols;       /* reads no debug information, see keptchild.h */
    char **text;                   /* by number */
    uint32_t n;
    /* Modules that children died of, and their number (keptchild.h). */
    char *distrusted[KEPTNAMES_DISTRUSTED_MAX];
    size_t ndistrusted;
    size_t room;
    struct hashslots known;
};

void keptnames_begin(struct keptnames *k, const struct keptspace *space);
void keptnames_end(struct keptnames *k);

/* The number of a name. */
uint32_t keptnames_number(struct keptnames *k, const char *text, size_t len);

/* The module that `addr` lies in, and in *vaddr the address in its file. *path is borrowed until
 * the next call. NULL: it lies in none. */
struct symbol_module *keptnames_module(struct keptnames *k, uintptr_t addr, uint64_t *vaddr,
                                       const char **path);

/* Whether a file is the recorder. */
bool keptnames_is_recorder(const char *path);

/* Whether a file is a library with a malloc of its own, the C library not. */
bool keptnames_is_allocator(const char *path);

/* Whether a file is the C library's dynamic loader. */
bool keptnames_is_loader(const char *path);

/* The functions at a code address; `exact`: it is no return address. */
struct symbol_frames keptnames_functions(struct keptnames *k, uintptr_t pc, bool exact);

#endif
