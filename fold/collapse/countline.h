/*
 * countline.h: stacks that tracers print with one frame a line, the leaf first, and the count in a
 * line of its own behind them (DTrace, SystemTap, bcc). Pure but for countline_run; thread-safe.
 */
#ifndef FLAME_FOLD_COLLAPSE_COUNTLINE_H
#define FLAME_FOLD_COLLAPSE_COUNTLINE_H

#include "fold/collapse/collapse.h"
#include "fold/stacks/span.h"

/* Whether the text is a number, blanks around it left out; into *count. */
bool countline_number(struct span s, struct stackset_count *count);

/* Reads the whole input: stacks of `add_frame`'s frames; lines of `is_header` are skipped. */
void countline_run(struct collapse *c, bool (*is_header)(struct span line),
                   void (*add_frame)(struct collapse *c, struct span frame));

/* Whether the text is a tool's preamble alone: all its lines begin with one of `words` (NULL ends
 * them). An idle machine gives no more. */
bool countline_is_preamble(const char *text, size_t len, const char *const *words);

#endif
