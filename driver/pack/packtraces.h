/*
 * packtraces.h: copies of traces that carry the names of their addresses.
 */
#ifndef FLAME_DRIVER_PACK_PACKTRACES_H
#define FLAME_DRIVER_PACK_PACKTRACES_H

#include "common/trace_format.h"
#include "driver/pack/tracebundle.h"
#include "fold/symbols/symbols.h"

/* A trace, and the file that is written; they may be one. All are borrowed. */
struct packtrace {
    const char *from, *to;
    struct tracebundle *into; /* instead of `to`: the trace is the next one there; or NULL */
    struct trace_fileset of;  /* written to the copy instead of the trace's; files 0: as in the
                               * trace,  and none for a copy of one of several in a file */
};

/* Copies one of them as it is, with other names or NULL. 0, or an enum flame_exit after a line. */
int pack_copy(const struct packtrace *p, const struct strbuf *names);

/*
 * Copies each of them in their order, whole or not at all, with the moments beside it
 * (tracecopy.h), and with the present names of its addresses. With `strict` a trace that cannot be
 * read, or whose names cannot be found, is an error; else it is copied unchanged. 0, or an enum
 * flame_exit after a line.
 */
int pack_traces(const struct symbol_options *opt, const struct packtrace *traces, size_t n,
                bool strict);

#endif
