/*
 * linkmap.h: which modules the dynamic loader of another process has loaded, what they define
 * and where their import slots are, read from the process's memory.
 *
 * No file is opened, so it is what the process has, in whatever root or name space it lives. What
 * is read is anything: every table has bounds and every loop a limit. The process may run
 * meanwhile; whoever acts on what was read stops it first and asks linkmap_same.
 *
 * Source: <link.h> (struct r_debug, struct link_map); the ELF gABI for dynamic sections, symbols
 * and relocations; "GNU hash ELF sections"
 * (https://sourceware.org/ml/binutils/2006-10/msg00377.html) for DT_GNU_HASH; the LSB for
 * DT_VERSYM.
 */
#ifndef FLAME_INJECT_LINKMAP_H
#define FLAME_INJECT_LINKMAP_H

#include "inject/procmem.h"

#define LINKMAP_MODULES 8192u

struct linked {
    uintptr_t map;  /* its struct link_map, */
    uintptr_t bias; /* l_addr, */
    uintptr_t dyn;  /* l_ld */
    bool read;      /* the following is known */
    uintptr_t strings, symbols, gnu_hash, versions;
    uint64_t strings_size;
    uintptr_t plt, plt_size, rela, rela_size;
};

struct linkmap {
    uintptr_t debug;  /* the loader's struct r_debug */
    uintptr_t loader; /* where the loader itself is loaded */
    struct linked *modules;
    size_t n, room;
};

enum linkmap_answer {
    LINKMAP_OK,
    LINKMAP_NOT_DYNAMIC, /* no dynamic loader is at work in it */
    LINKMAP_BUSY,        /* the loader is changing the list */
    LINKMAP_UNREADABLE,  /* the list is not what it should be */
};

/* Finds the loader's list from the program's headers: `phdr`, `phnum` are AT_PHDR and AT_PHNUM of
 * its auxiliary vector. */
enum linkmap_answer linkmap_find(struct linkmap *l, const struct procmem *m, uintptr_t phdr,
                                 uint64_t phnum);

/* Reads the list; of modules that were in it before, what is known is kept. *changed: it is
 * another one than before. After an answer that is not OK the list is the one before. */
enum linkmap_answer linkmap_read(struct linkmap *l, const struct procmem *m, bool *changed);

/* Whether the list is what was read, and nobody is changing it. Allocates nothing. */
bool linkmap_same(const struct linkmap *l, const struct procmem *m);

void linkmap_release(struct linkmap *l);

/* The address of the function `name` that the module defines in its default version; 0: it defines
 * none, or one that is found by calling it (an indirect function). */
uintptr_t linked_defines(const struct linked *k, const struct procmem *m, const char *name);

/* Calls `visit` for each slot that leads to one of names[0..n): JUMP_SLOT or GLOB_DAT, `which`
 * being the name's number. False: the tables cannot be read. */
typedef void linked_slot(void *arg, uintptr_t at, size_t which, bool lazy);
bool linked_slots(const struct linked *k, const struct procmem *m, const char *const *names,
                  size_t n, linked_slot *visit, void *arg);

#endif
