/*
 * frames.h: the addresses of one trace as frames of an aggregate.
 *
 * Each distinct address is symbolised once. Not thread-safe.
 */
#ifndef FLAME_FOLD_FRAMES_H
#define FLAME_FOLD_FRAMES_H

#include <stdbool.h>

#include "common/trace_reader.h"
#include "fold/aggregate.h"
#include "fold/place.h"
#include "fold/symbols.h"

struct frames;

/*
 * All three are borrowed and must outlive it. With a `place` other than PLACE_NONE
 * names carry a mark and what is known of it (place.h).
 */
struct frames *frames_new(const struct trace *t, struct symbols *syms, struct aggregate *to,
                          enum place_kind place);
void frames_free(struct frames *f);

/*
 * Handle of an address in stacks on that root (TRACE_NODE_ROOT, which tells epoch and
 * thread), for the functions below.
 */
uint32_t frames_address(struct frames *f, uint64_t addr, const struct trace_node *root);

/* True when whoever stands below this return address in a stack was interrupted. */
bool frames_is_sigreturn(const struct frames *f, uint32_t address);

/*
 * The frames of an address, outermost first; lent until the next call. `exact`: the
 * address itself; else it is a return address, and the call before it is meant.
 */
const uint32_t *frames_of(struct frames *f, uint32_t address, bool exact, size_t *n);

/* The frame of a wait for the futex at that address: "futex NAME" of the variable it
 * lies in, "+0x10" behind it if that is more than one lock. */
uint32_t frames_futex(struct frames *f, uint64_t addr, const struct trace_node *root);

/* What the frames' names say. */
struct aggregate *frames_aggregate(const struct frames *f);

#endif
