/*
 * symbolize.h: the addresses of one trace as frames of an aggregate.
 *
 * Each distinct address is symbolised once. Not thread-safe.
 */
#ifndef FLAME_FOLD_SYMBOLIZE_H
#define FLAME_FOLD_SYMBOLIZE_H

#include <stdbool.h>

#include "common/trace/trace_reader.h"
#include "fold/aggregate.h"
#include "fold/stacks/place.h"
#include "fold/symbols/symbols.h"

struct symbolizer;

/*
 * Trace, symbols and aggregate are borrowed and must outlive the frames. With a `place` other
 * than PLACE_NONE names carry a mark and their place, as far as it is known (place.h).
 */
struct symbolizer *symbolizer_new(const struct trace *t, struct symbols *syms, struct aggregate *to,
                                  enum place_kind place);
void symbolizer_free(struct symbolizer *f);

/*
 * The handle, for the functions below, of an address in stacks with that `root` (a
 * TRACE_NODE_ROOT, which has epoch and thread).
 */
uint32_t symbolizer_address(struct symbolizer *f, uint64_t addr, const struct trace_node *root);

/* True when the frame below this return address was interrupted by a signal. */
bool symbolizer_is_sigreturn(const struct symbolizer *f, uint32_t address);

/*
 * The frames of an address, outermost first; borrowed until the next call. `exact`: the address
 * itself; else it is a return address, and the call before it is meant.
 */
const uint32_t *symbolizer_of(struct symbolizer *f, uint32_t address, bool exact, size_t *n);

/* Whether the address's frame is the one that anon_code.h has for code without file and name. */
bool symbolizer_is_anon_code(struct symbolizer *f, uint32_t address, bool exact);

/* The frame of a wait for the futex at that address: "futex NAME" of the variable it
 * lies in, "+0x10" behind it if that is more than one lock. */
uint32_t symbolizer_futex(struct symbolizer *f, uint64_t addr, const struct trace_node *root);

/* The aggregate that holds the frames' names. */
struct aggregate *symbolizer_aggregate(const struct symbolizer *f);

#endif
