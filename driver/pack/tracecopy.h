/*
 * tracecopy.h: copies a trace to a file: its used segments, the moments from the file beside it,
 * and the names that it shall carry.
 */
#ifndef FLAME_DRIVER_PACK_TRACECOPY_H
#define FLAME_DRIVER_PACK_TRACECOPY_H

#include "common/strbuf.h"
#include "common/trace_format.h"
#include "driver/pack/tracebundle.h"

/*
 * Writes the trace `from`, which may be written to meanwhile, to `to`; whole or not at all; both
 * may be one file. `names`: the bytes of a namepack, which replace the trace's names; NULL: these
 * remain. `of`: see struct packtrace. 0, or an enum flame_exit after a line.
 */
int tracecopy(const char *from, const char *to, const struct trace_fileset *of,
              const struct strbuf *names);

/* Like tracecopy, as the next trace of a bundle; there is no line if it is too large. */
int tracecopy_into(const char *from, struct tracebundle *b, const struct trace_fileset *of,
                   const struct strbuf *names);

#endif
