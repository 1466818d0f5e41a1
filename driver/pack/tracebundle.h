/*
 * tracebundle.h: writes several traces into one file (struct trace_list), one after another. The
 * file appears whole or not at all (common/files/outfile.h); it may be a pipe. Memory is that of
 * the list: 16 bytes a trace. Not thread-safe for one bundle.
 */
#ifndef FLAME_DRIVER_PACK_TRACEBUNDLE_H
#define FLAME_DRIVER_PACK_TRACEBUNDLE_H

#include <stdbool.h>

#include "common/files/outfile.h"
#include "common/strbuf.h"
#include "common/trace_format.h"

struct tracebundle {
    struct outfile out;
    const char *path; /* borrowed */
    uint32_t traces;  /* number of traces to come, 2 or more */
    uint32_t begun;
    uint64_t at;    /* bytes written so far */
    bool too_large; /* a write failed as the file may be no longer; nothing was printed */
    struct strbuf places;
};

/* Begins the file `path`, of `traces` traces (2 to TRACE_LIST_MAX). Functions return 0 or
 * -errno. */
int tracebundle_open(struct tracebundle *b, const char *path, uint32_t traces);

/* Begins the next trace: sets the number of traces in its header, which the caller writes to
 * b->out.f, with all that follows. */
void tracebundle_begin(struct tracebundle *b, struct trace_header *h);

/* Ends it: `size` bytes were written. An error of the file so far is returned. */
int tracebundle_end(struct tracebundle *b, uint64_t size);

/* Writes the list, when all traces are written. The bundle is closed either way. */
int tracebundle_commit(struct tracebundle *b);
void tracebundle_abort(struct tracebundle *b);

#endif
