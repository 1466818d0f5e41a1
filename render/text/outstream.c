#include "render/text/outstream.h"

#include <errno.h>

void outstream_flush(struct outstream *o)
{
    errno = 0;
    if (!o->err && fwrite(o->sb.buf, 1, o->sb.len, o->out) != o->sb.len)
        o->err = errno ? -errno : -EIO;
    strbuf_clear(&o->sb);
}

int outstream_end(struct outstream *o)
{
    outstream_flush(o);
    strbuf_release(&o->sb);
    return o->err;
}
