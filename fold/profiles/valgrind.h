/*
 * valgrind.h: frames as valgrind's tools write them, "0x1091A6: main (x.c:5)",
 * "0x484: malloc (in /usr/lib/x.so)". Pure, thread-safe.
 */
#ifndef FLAME_FOLD_PROFILES_VALGRIND_H
#define FLAME_FOLD_PROFILES_VALGRIND_H

#include "fold/collapse/collapse.h"
#include "fold/stacks/span.h"

/* The name, a part of `frame`. Text in parentheses stays if the options ask for that place. */
static inline struct span valgrind_name(struct span frame, const struct collapse_options *opt)
{
    bool is_module = span_find(frame, " (in ") != NULL;
    size_t open;

    if (span_begins(frame, "0x")) {
        size_t hex = span_hex(span_from(frame, 2));

        if (span_begins(span_from(frame, 2 + hex), ": "))
            frame = span_from(frame, hex + 4);
    }
    if (opt->srcline || opt->place > PLACE_MODULE || (opt->place == PLACE_MODULE && is_module) ||
        !span_ends(frame, ")"))
        return frame;
    open = span_last_open(frame);
    return open == SIZE_MAX || open == 0 ? frame : span_to(frame, open - 1);
}

#endif
