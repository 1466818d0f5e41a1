/*
 * backtrace.h: backtraces that debuggers print, many of them one after the other. Every stack
 * counts one; all print the leaf first. Pure but for backtrace_flush; thread-safe.
 */
#ifndef FLAME_FOLD_BACKTRACES_BACKTRACE_H
#define FLAME_FOLD_BACKTRACES_BACKTRACE_H

#include "fold/collapse/collapse.h"
#include "fold/stacks/span.h"

/* Emits the stack, if there is one. */
static inline void backtrace_flush(struct collapse *c)
{
    if (c->n > 0)
        collapse_flush_one(c, LEAF_FIRST);
}

/* Takes "#12 " off the front. False: it is another line. */
static inline bool backtrace_number(struct span *line)
{
    size_t digits;

    if (!span_begins(*line, "#"))
        return false;
    digits = span_digits(span_from(*line, 1));
    if (digits == 0)
        return false;
    *line = span_ltrim(span_from(*line, 1 + digits));
    return true;
}

/* Cuts Java's "at package.Class.method(File.java:1)" to the text before '('. */
static inline bool backtrace_java_frame(struct span line, struct span *name)
{
    line = span_ltrim(line);
    if (!span_begins(line, "at "))
        return false;
    *name = span_from(line, 3);
    *name = span_to(*name, span_chr(*name, '('));
    return true;
}

#endif
