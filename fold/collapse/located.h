/*
 * located.h: frames of formats that know a frame's module, file and line; and the choice of the
 * values to count and the errors of damaged input, for readers of such formats.
 */
#ifndef FLAME_FOLD_COLLAPSE_LOCATED_H
#define FLAME_FOLD_COLLAPSE_LOCATED_H

#include "common/compiler.h"
#include "common/folded.h"
#include "fold/collapse/collapse.h"
#include "fold/stacks/span.h"

struct located {
    struct span name, module, file; /* empty: not known; borrowed */
    uint64_t line;                  /* 0: not known */
    bool inlined;                   /* into the frame that called it: its name ends in _[i] */
};

/*
 * The id of a frame: its name, with " file:line" behind it (as flame fold has it) if opt->srcline
 * asks for that, and its place behind a mark if opt->place does. A name that is empty is the
 * module's, "[module]", or "[unknown]".
 */
uint32_t collapse_located(struct collapse *c, const struct located *l);

/*
 * Ends the input with an error that says where it is wrong and how. `offset` counts unpacked
 * bytes from 0, and so does the message ("byte 12: ..."). An earlier error stays. Drops what was
 * pushed.
 */
void collapse_damaged(struct collapse *c, size_t offset, const char *fmt, ...) FLAME_PRINTF(3, 4);
/* Like collapse_damaged, for text that is kept whole and begins at `text`: "line 3 (byte 57):
 * ...". */
void collapse_damaged_text(struct collapse *c, const char *text, const char *at, const char *fmt,
                           ...) FLAME_PRINTF(4, 5);

/*
 * Index of the kind of values to count: the one that opt->type names, or else `otherwise`, after
 * a warning that names the others. n: the input has no such kind, and has ended with an error
 * that lists the kinds that it has.
 */
size_t collapse_pick_type(struct collapse *c, const struct span *types, size_t n, size_t otherwise);

/*
 * Upper bound on the frames of all stacks together in a profile of so many bytes. In such
 * profiles a few bytes can stand for a stack of any depth (a node of V8's for all that are above
 * it, a location of pprof's for 4096 inlined functions), so 3 MB could fill a memory of many GB.
 * Profiles that programs write have about three frames a byte at most.
 */
static inline uint64_t collapse_frames_most(size_t bytes)
{
    return FOLDED_FRAMES_MAX + 16 * (uint64_t)bytes;
}
#define COLLAPSE_FRAMES_TOO_MANY                                                                   \
    "stacks of more frames in all than a profile of this size has, unless it was made to fill a "  \
    "memory"

#endif
