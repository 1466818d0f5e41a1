#include "driver/pack/tracebundle.h"

#include <errno.h>
#include <string.h>

static const char zeros[TRACE_UNIT];

int tracebundle_open(struct tracebundle *b, const char *path, uint32_t traces)
{
    *b = (struct tracebundle){.path = path, .traces = traces, .places = STRBUF_INIT};
    return outfile_open(&b->out, path);
}

void tracebundle_begin(struct tracebundle *b, struct trace_header *h)
{
    h->traces = b->begun++ ? 0 : b->traces;
}

/* Fills the unit that the file ends in. */
static void pad(struct tracebundle *b)
{
    size_t over = (size_t)(b->at % TRACE_UNIT);

    if (over)
        b->at += fwrite(zeros, 1, TRACE_UNIT - over, b->out.f);
}

int tracebundle_end(struct tracebundle *b, uint64_t size)
{
    struct trace_place p = {.at = b->at, .size = size};

    strbuf_add(&b->places, &p, sizeof p);
    b->at += size;
    pad(b);
    if (!ferror(b->out.f))
        return 0;
    b->too_large = errno == EFBIG;
    return errno ? -errno : -EIO;
}

int tracebundle_commit(struct tracebundle *b)
{
    struct trace_list head = {.traces = b->traces};
    int err;

    memcpy(head.magic, TRACE_LIST_MAGIC, sizeof head.magic);
    b->at += fwrite(&head, 1, sizeof head, b->out.f);
    b->at += fwrite(b->places.buf, 1, b->places.len, b->out.f);
    pad(b);
    err = outfile_commit(&b->out);
    strbuf_release(&b->places);
    return err;
}

void tracebundle_abort(struct tracebundle *b)
{
    outfile_abort(&b->out);
    strbuf_release(&b->places);
}
