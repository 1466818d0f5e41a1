/*
 * dwarfread.h: the DWARF of one file as plain numbers.
 *
 * Offsets are those of DIEs in .debug_info. Unreadable parts are left out, because debug
 * information is outside input, and folding can do without it. Strings live until
 * dwarfread_close. Not thread-safe.
 */
#ifndef FLAME_FOLD_SYMBOLS_DWARFREAD_H
#define FLAME_FOLD_SYMBOLS_DWARFREAD_H

#include <stdbool.h>

#include "fold/symbols/rangemap.h"

struct dwarfread;

/* A growing list of offsets; an index in it is the id used in a rangemap. */
struct dwarf_offsets {
    uint64_t *at;
    uint32_t n;
    size_t alloc;
};

/* One place where a function was inlined, or one range of it. */
struct dwarf_inline {
    uint64_t low, high;
    uint64_t origin;               /* of the function inlined there, for dwarfread_name */
    uint32_t depth;                /* 0: inlined into the function itself */
    uint32_t call_file, call_line; /* 0: not known */
};

struct dwarf_inlines {
    struct dwarf_inline *at;
    uint32_t n;
    size_t alloc;
};

/* A row of the line table: it holds from `addr` on until the next row. */
struct dwarf_line_row {
    uint64_t addr;
    uint32_t file, line; /* line 0: none, up to the next row */
};

struct dwarf_lines {
    struct dwarf_line_row *row; /* sorted by addr */
    uint32_t n;
    size_t alloc;
    char **files; /* paths by number; entries may be NULL */
    uint32_t nfiles;
};

/*
 * Opens the debug information in `path`, with that of `alternate` (may be NULL)
 * as the file of shared parts. NULL when there is none.
 */
struct dwarfread *dwarfread_open(const char *path, const char *alternate);
void dwarfread_close(struct dwarfread *d);

/* All compilation units and the addresses they cover. The caller calls rangemap_finish. */
void dwarfread_units(struct dwarfread *d, struct dwarf_offsets *units, struct rangemap *map);
/*
 * The functions with code in the unit at offset `unit`; or, with `nested`, those nested in
 * functions and types (lambdas), which takes much longer, as every DIE is read. The caller calls
 * rangemap_finish.
 */
void dwarfread_functions(struct dwarfread *d, uint64_t unit, bool nested,
                         struct dwarf_offsets *functions, struct rangemap *map);
/* The calls inlined into the function at offset `function`, in no special order. */
void dwarfread_inlines(struct dwarfread *d, uint64_t unit, uint64_t function,
                       struct dwarf_inlines *out);
/* The line table of a unit. */
void dwarfread_lines(struct dwarfread *d, uint64_t unit, struct dwarf_lines *out);

/* A function's name, the mangled one if it has one; NULL when it has none. */
const char *dwarfread_name(struct dwarfread *d, uint64_t offset);

#endif
