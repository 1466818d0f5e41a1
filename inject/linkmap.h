/*
 * linkmap.h: modules that the dynamic loader of another process has loaded, their definitions and
 * their import slots, read from the process's memory.
 *
 * No file is opened, so the process's root and name space do not matter. The data may be anything:
 * every table has bounds and every loop a limit. The process may run meanwhile. A caller that acts
 * on the result first stops the process and calls linkmap_same.
 *
 * Source: <link.h> (struct r_debug, struct link_map); the ELF gABI for dynamic sections, symbols
 * and relocations; "GNU hash ELF sections"
 * (https://sourceware.org/ml/binutils/2006-10/msg00377.html) for DT_GNU_HASH; the LSB for
 * DT_VERSYM.
 */
#ifndef FLAME_INJECT_LINKMAP_H
#define FLAME_INJECT_LINKMAP_H

#include "inject/memory/procmem.h"

#define LINKMAP_MODULES 8192u

struct linked {
    uintptr_t map;  /* address of its struct link_map */
    uintptr_t bias; /* l_addr */
    uintptr_t dyn;  /* l_ld */
    bool read;      /* the fields below are known */
    uintptr_t strings, symbols, gnu_hash, versions;
    uint64_t strings_size;
    uintptr_t plt, plt_size, rela, rela_size;
};

struct linkmap {
    uintptr_t debug;  /* address of the loader's struct r_debug */
    uintptr_t loader; /* address at which the loader itself is loaded */
    struct linked *modules;
    size_t n, room;
};

enum linkmap_answer {
    LINKMAP_OK,
    LINKMAP_NOT_DYNAMIC, /* it has no dynamic loader */
    LINKMAP_BUSY,        /* the loader is changing the list */
    LINKMAP_UNREADABLE,  /* the list is not valid */
};

/* Finds the loader's list from the program's headers: `phdr`, `phnum` are AT_PHDR and AT_PHNUM of
 * its auxiliary vector. */
enum linkmap_answer linkmap_find(struct linkmap *l, const struct procmem *m, uintptr_t phdr,
                                 uint64_t phnum);

/* Reads the list. Known data of modules that are still in it are reused. *changed: the list differs
 * from the previous one. After an answer other than LINKMAP_OK the list is the previous one. */
enum linkmap_answer linkmap_read(struct linkmap *l, const struct procmem *m, bool *changed);

/* Whether the list still is the one that was read, and the loader is not changing it. Allocates
 * nothing. */
bool linkmap_same(const struct linkmap *l, const struct procmem *m);

void linkmap_release(struct linkmap *l);

/* Address of the function `name` that the module defines in its default version. 0: it defines
 * none, or an indirect function, whose address only a call yields. */
uintptr_t linked_defines(const struct linked *k, const struct procmem *m, const char *name);

/* Like linked_defines, for data. */
uintptr_t linked_defines_data(const struct linked *k, const struct procmem *m, const char *name);

/* Calls `visit` for each slot (JUMP_SLOT or GLOB_DAT) for one of names[0..n), with the name's
 * number as `which`. False: the tables cannot be read. */
typedef void linked_slot(void *arg, uintptr_t at, size_t which, bool lazy);
bool linked_slots(const struct linked *k, const struct procmem *m, const char *const *names,
                  size_t n, linked_slot *visit, void *arg);

#endif
