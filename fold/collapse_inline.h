/*
 * collapse_inline.h: which functions were inlined at an address that another
 * profiler printed as "NAME+0xOFFSET (MODULE)".
 *
 * Such an address is the process's; in the file it is NAME's plus OFFSET, or the
 * address itself where the file is loaded where it says. Modules are opened
 * when first asked about. Names live until collapse_inline_free. Not thread-safe.
 */
#ifndef FLAME_FOLD_COLLAPSE_INLINE_H
#define FLAME_FOLD_COLLAPSE_INLINE_H

#include "fold/collapse_scan.h"
#include "fold/symbols.h"

struct collapse_inline;

struct collapse_inline *collapse_inline_new(bool lines);
void collapse_inline_free(struct collapse_inline *il);

/* Outermost first; none when the module is not here or does not know. */
struct symbol_frames collapse_inline_find(struct collapse_inline *il, struct span module,
                                          struct span function, struct span pc);

#endif
