/*
 * dwarfdie.h: debug information entries (DIEs) and their attributes, by libdwarf.
 *
 * For the files that call libdwarf: dwarfdie.c and dwarfread.c here, and fold/members/dwarftype.c.
 * A function that fails returns 0, NULL or false, and has freed libdwarf's error. Not thread-safe.
 */
#ifndef FLAME_FOLD_SYMBOLS_DWARFDIE_H
#define FLAME_FOLD_SYMBOLS_DWARFDIE_H

#include <stdbool.h>

#if __has_include(<libdwarf/libdwarf.h>)
#include <libdwarf/dwarf.h>
#include <libdwarf/libdwarf.h>
#else
#include <dwarf.h>
#include <libdwarf.h>
#endif

#include "common/compiler.h"

struct dwarfread {
    Dwarf_Debug dbg;
    int fd;
    Dwarf_Debug alt; /* file of shared parts; NULL: there is none */
    int alt_fd;
};

/* Set on an offset that lies in the alternate file. */
#define IN_ALTERNATE ((uint64_t)1 << 63)

/* The debug information in an open file, which stays the caller's; NULL: there is none. */
Dwarf_Debug dwarfdie_init(int fd);
void dwarfdie_finish(Dwarf_Debug dbg);

/* Whether a call succeeded. Frees the error, as its text is not used. */
bool dwarfdie_good(Dwarf_Debug dbg, int res, Dwarf_Error *err);

/* Calls `visit` with the DIE of each unit, in the order of the file, and drops it. */
void dwarfdie_units(Dwarf_Debug dbg, void (*visit)(Dwarf_Debug dbg, Dwarf_Die die, void *arg),
                    void *arg);
/* The DIE at an offset of .debug_info. The caller drops DIEs. */
Dwarf_Die dwarfdie_at(Dwarf_Debug dbg, uint64_t offset);
Dwarf_Die dwarfdie_first(Dwarf_Debug dbg, Dwarf_Die die);
/* Drops `die` and returns the next one on its level, or NULL. */
Dwarf_Die dwarfdie_next(Dwarf_Debug dbg, Dwarf_Die die);
void dwarfdie_drop(Dwarf_Debug dbg, Dwarf_Die die);
Dwarf_Half dwarfdie_tag(Dwarf_Debug dbg, Dwarf_Die die);

/* An attribute, which the caller frees by dwarf_dealloc. */
Dwarf_Attribute dwarfdie_attribute(Dwarf_Debug dbg, Dwarf_Die die, Dwarf_Half which);
/* A number that is not negative; false: the DIE has none. */
bool dwarfdie_has_number(Dwarf_Debug dbg, Dwarf_Die die, Dwarf_Half which, uint64_t *value);
/* Like dwarfdie_has_number; 0: the DIE has none. */
uint64_t dwarfdie_number(Dwarf_Debug dbg, Dwarf_Die die, Dwarf_Half which);
/* Where a reference leads; false when nowhere. */
bool dwarfdie_reference(Dwarf_Debug dbg, Dwarf_Die die, Dwarf_Half which, uint64_t *to);
/* A string, which lives until dwarfdie_finish. */
const char *dwarfdie_string(Dwarf_Debug dbg, Dwarf_Die die, Dwarf_Half which);

#endif
