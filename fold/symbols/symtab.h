/*
 * symtab.h: a module's function symbols, sorted by address.
 *
 * Fill it with symtab_add, call symtab_finish once, then look up. Names are borrowed: the caller
 * of symtab_add keeps them alive. Addresses are those of the file (st_value's terms). Lookups
 * after symtab_finish are thread-safe.
 */
#ifndef FLAME_FOLD_SYMBOLS_SYMTAB_H
#define FLAME_FOLD_SYMBOLS_SYMTAB_H

#include "common/compiler.h"

/* The greater, the better a name for an address that has several. */
enum symtab_rank {
    SYMTAB_RANK_LABEL = 0,  /* no type: assembler's labels */
    SYMTAB_RANK_LOCAL = 1,  /* a function known in its file only */
    SYMTAB_RANK_GLOBAL = 2, /* a function others can call */
};

struct symtab_entry {
    uint64_t addr;
    uint64_t end;     /* first address after it */
    uint64_t reach;   /* the greatest end of this and all before */
    const char *name; /* not NUL-terminated */
    uint32_t len;
    uint16_t rank;
    uint16_t sized; /* has a size of its own; else it ends where the next begins */
};

struct symtab {
    struct symtab_entry *e;
    size_t n, alloc;
};

#define SYMTAB_INIT                                                                                \
    {                                                                                              \
        NULL, 0, 0                                                                                 \
    }

/*
 * Adds a symbol. If its size is not known (0), it ends at the next symbol or at
 * `limit` (the end of its section), whichever comes first.
 */
void symtab_add(struct symtab *t, uint64_t addr, uint64_t size, uint64_t limit,
                enum symtab_rank rank, const char *name, size_t len);
/* Sorts and keeps the best name of each address. */
void symtab_finish(struct symtab *t);
void symtab_release(struct symtab *t);

/* The innermost symbol that contains `addr`, or NULL. */
const struct symtab_entry *symtab_find(const struct symtab *t, uint64_t addr);

#endif
