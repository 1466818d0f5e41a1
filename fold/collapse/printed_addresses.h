/*
 * printed_addresses.h: functions inlined at an address that another profiler printed as
 * "NAME+0xOFFSET (MODULE)".
 *
 * Such an address is one of the process. Its place in the file is NAME's address there plus
 * OFFSET, or the address itself if the file is loaded at the addresses it was linked for.
 * Modules are opened at their first lookup. Names live until inlines_free. Not thread-safe.
 */
#ifndef FLAME_FOLD_COLLAPSE_PRINTED_ADDRESSES_H
#define FLAME_FOLD_COLLAPSE_PRINTED_ADDRESSES_H

#include "fold/stacks/span.h"
#include "fold/symbols/symbols.h"

struct inlines;

struct inlines *inlines_new(bool lines);
void inlines_free(struct inlines *il);

/* The functions at `pc`, outermost first; none when the module is not on this machine, or
 * nothing is known of the address. */
struct symbol_frames inlines_find(struct inlines *il, struct span module, struct span function,
                                  struct span pc);

#endif
