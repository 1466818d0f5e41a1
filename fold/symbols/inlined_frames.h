/*
 * inlined_frames.h: functions inlined at an address, with their files and lines.
 *
 * Nothing is read before a lookup, and then only the units that it needs. Names and files live
 * until dwarfline_close. Not thread-safe.
 */
#ifndef FLAME_FOLD_SYMBOLS_INLINED_FRAMES_H
#define FLAME_FOLD_SYMBOLS_INLINED_FRAMES_H

#include <stdbool.h>

#include "common/compiler.h"

struct dwarfline;

struct dwarfline_frame {
    const char *name; /* mangled if the language mangles; NULL: not known */
    const char *path; /* of the file, with its directory as far as that is known; or NULL */
    unsigned line;    /* where control is in this frame; 0: not known */
};

#define DWARFLINE_FRAMES_MAX 128

/* NULL when `path` has no debug information; `alternate` as for dwarfread_open. */
struct dwarfline *dwarfline_open(const char *path, const char *alternate);
void dwarfline_close(struct dwarfline *d);

/*
 * The frames at address `vaddr` of the file, outermost first: the function itself, then the
 * functions inlined into it. They have files and lines only with `lines`. Returns how many; 0
 * when the address is in no function that DWARF knows.
 */
size_t dwarfline_find(struct dwarfline *d, uint64_t vaddr, bool lines,
                      struct dwarfline_frame out[DWARFLINE_FRAMES_MAX]);

/* Whether anything of the debug information could be read. */
bool dwarfline_has_units(struct dwarfline *d);

#endif
