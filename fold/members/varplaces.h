/*
 * varplaces.h: places in .debug_info where the addresses of variables are, found without reading
 * DIEs.
 *
 * A place is a candidate only. The DIE around it must be read to know (dwarftype.h). Not
 * thread-safe.
 */
#ifndef FLAME_FOLD_MEMBERS_VARPLACES_H
#define FLAME_FOLD_MEMBERS_VARPLACES_H

#include <stdbool.h>

#include "fold/members/dwarftype.h"

struct varplace {
    uint64_t address;
    uint64_t at;    /* offset in .debug_info, or in .debug_addr */
    bool is_listed; /* `at` is in .debug_addr, which a unit refers to by a number */
};

struct varplaces {
    const struct dwarf_units *units; /* borrowed, as are the bytes */
    const uint8_t *info;
    size_t len;
    struct varplace *place; /* in order of address, those of .debug_info first */
    size_t n, alloc;
};

typedef bool varplaces_is_variable(void *opaque, uint64_t address);

/* Begins without places. `info` is .debug_info, of `len` bytes. */
void varplaces_init(struct varplaces *p, const struct dwarf_units *units, const uint8_t *info,
                    size_t len);
/* Searches .debug_info, and .debug_addr in `list` (NULL: there is none), for addresses of which
 * `is_variable` is true. */
void varplaces_find(struct varplaces *p, const uint8_t *list, size_t list_len,
                    varplaces_is_variable *is_variable, void *opaque);
void varplaces_release(struct varplaces *p);

/* Called with a place in .debug_info and the DIE of its unit; true ends the search. */
typedef bool varplaces_take(void *opaque, uint64_t unit, uint64_t place);

/* Calls `take` for the places of an address, in order, until it returns true, at most for 64. */
void varplaces_each(const struct varplaces *p, uint64_t address, varplaces_take *take,
                    void *opaque);

#endif
