/*
 * outstream.h: text on its way to a stream, a quarter of a megabyte at a time.
 *
 * Append to o->sb and call outstream_some now and then, so that memory holds a piece of the
 * output and not all of it. Errors of the stream are kept, and the output after the first is
 * dropped.
 *
 *  lifecycle  OUTSTREAM_INIT, outstream_end (writes the rest, frees)
 *  ownership  the stream stays the caller's, who also flushes it
 */
#ifndef FLAME_RENDER_TEXT_OUTSTREAM_H
#define FLAME_RENDER_TEXT_OUTSTREAM_H

#include <stdio.h>

#include "common/strbuf.h"

#define OUTSTREAM_ROOM (256u << 10)

struct outstream {
    FILE *out;
    struct strbuf sb;
    int err; /* -errno once the stream failed */
};

#define OUTSTREAM_INIT(stream)                                                                     \
    {                                                                                              \
        (stream), STRBUF_INIT, 0                                                                   \
    }

/* Writes the text that is held. */
void outstream_flush(struct outstream *o);
/* 0, or -errno of the first failure. */
int outstream_end(struct outstream *o);

/* Writes the text that is held when it has become long. */
static inline void outstream_some(struct outstream *o)
{
    if (o->sb.len > OUTSTREAM_ROOM)
        outstream_flush(o);
}

#endif
