/*
 * dwarftype.h: units, variables and types in the DWARF of one file, as plain numbers.
 *
 * Offsets are those of DIEs in .debug_info, as in dwarfread.h. A part that cannot be read is
 * unknown, or left out. Names live until dwarfread_close. Not thread-safe.
 */
#ifndef FLAME_FOLD_MEMBERS_DWARFTYPE_H
#define FLAME_FOLD_MEMBERS_DWARFTYPE_H

#include <stdbool.h>

#include "fold/symbols/dwarfread.h"

/* Bytes of .debug_info that one unit has. */
struct dwarf_unit {
    uint64_t begin, end;
    uint64_t die;
    uint64_t addr_base; /* its addresses in .debug_addr; 0: it has none there */
};

struct dwarf_units {
    struct dwarf_unit *at; /* in order of `begin` */
    size_t n, alloc;
};

/* All units, by reading one DIE of each. */
void dwarftype_units(struct dwarfread *d, struct dwarf_units *out);

/*
 * The type of the variable at `address`, whose DIE contains the byte at offset `place` of
 * .debug_info. `unit` is the DIE of its unit. False: there is no such variable.
 */
bool dwarftype_of_variable(struct dwarfread *d, uint64_t unit, uint64_t place, uint64_t address,
                           uint64_t *type);

enum dwarf_kind {
    DWARF_UNKNOWN, /* also incomplete types */
    DWARF_ALIAS,   /* typedef, const, volatile and the like */
    DWARF_LEAF,    /* pointers, references, numbers, enumerations */
    DWARF_STRUCT,  /* structures, classes, unions */
    DWARF_ARRAY,
};

struct dwarf_type {
    enum dwarf_kind kind;
    uint64_t size; /* in bytes; 0: not known */
    bool has_target;
    uint64_t target; /* type of elements, or the one that an alias is for */
};

struct dwarf_type dwarftype_read(struct dwarfread *d, uint64_t type);

struct dwarf_field {
    const char *name; /* NULL: a base class, or a structure or union without a name */
    uint64_t type;
    uint64_t at; /* offset in bytes */
};

struct dwarf_fields {
    struct dwarf_field *at; /* in the order of the file */
    size_t n, alloc;
};

/* Members and base classes of a structure. Static members, bit fields and virtual bases are left
 * out. Reads at most `max` DIEs, and returns how many. */
size_t dwarftype_fields(struct dwarfread *d, uint64_t type, size_t max, struct dwarf_fields *out);

#define DWARF_DIMENSIONS_MAX 8

/* Number of dimensions of an array, with the number of elements of each; 0: not known. */
size_t dwarftype_dimensions(struct dwarfread *d, uint64_t type,
                            uint64_t count[DWARF_DIMENSIONS_MAX]);

#endif
