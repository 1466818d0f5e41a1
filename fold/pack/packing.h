/*
 * packing.h: finds the names of all addresses that occur in traces, for the traces to carry
 * (common/trace/namepack.h).
 *
 * Functions return 0 or an enum flame_exit with one line already on standard error. Not
 * thread-safe.
 */
#ifndef FLAME_FOLD_PACK_PACKING_H
#define FLAME_FOLD_PACK_PACKING_H

#include "fold/fold.h"

/*
 * Puts the bytes of what trace i carries into names[i], which are empty and the caller's to
 * release: names and lines of its addresses by the files as they are now, and by the names that it
 * has already. Of `opt` debug_dirs count.
 */
int packing_names(const struct symbol_options *opt, struct trace *const *traces, size_t n,
                  struct strbuf *names);

/* Appends the segment in which a trace carries such bytes, behind `metas` others of metadata. */
void packing_segment(struct strbuf *out, const struct strbuf *names, uint32_t metas);

#endif
