/*
 * Many traces of a run have the same programs, whose files are read once for all traces of a batch.
 * A batch is bounded, as its traces are in memory together.
 */
#include "driver/pack/packtraces.h"

#include <stdlib.h>

#include "common/alloc.h"
#include "common/files/trace_file.h"
#include "common/trace/trace_reader.h"
#include "driver/pack/tracecopy.h"
#include "fold/pack/packing.h"

#define BATCH_TRACES 256u
#define BATCH_BYTES ((uint64_t)64 << 20)

struct batch {
    struct trace *traces[BATCH_TRACES];
    struct strbuf names[BATCH_TRACES];
    const struct packtrace *of[BATCH_TRACES];
    size_t n;
    uint64_t bytes;
};

int pack_copy(const struct packtrace *p, const struct strbuf *names)
{
    return p->into ? tracecopy_into(p->from, p->into, &p->of, names)
                   : tracecopy(p->from, p->to, &p->of, names);
}

/* Writes the copies of a batch, and empties it. */
static int write_batch(const struct symbol_options *opt, struct batch *b, bool strict)
{
    int status = b->n ? packing_names(opt, b->traces, b->n, b->names) : 0;
    bool named = !status;

    if (!strict)
        status = 0;
    for (size_t i = 0; i < b->n; i++) {
        if (!status)
            status = pack_copy(b->of[i], named ? &b->names[i] : NULL);
        trace_free(b->traces[i]);
        strbuf_release(&b->names[i]);
    }
    b->n = 0;
    b->bytes = 0;
    return status;
}

static void add(struct batch *b, const struct packtrace *of, struct trace *t)
{
    b->of[b->n] = of;
    b->names[b->n] = (struct strbuf)STRBUF_INIT;
    b->traces[b->n++] = t;
    b->bytes += trace_file_size(of->from);
}

/* Copies a trace that cannot be read; the traces before it are written first, as their order in a
 * bundle is that of the traces. */
static int copy_unread(const struct symbol_options *opt, struct batch *b, const struct packtrace *p)
{
    int status = p->into ? write_batch(opt, b, false) : 0;

    return status ? status : pack_copy(p, NULL);
}

int pack_traces(const struct symbol_options *opt, const struct packtrace *traces, size_t n,
                bool strict)
{
    struct batch *b = xcalloc(1, sizeof *b);
    int status = 0;

    for (size_t i = 0; i < n && !status; i++) {
        struct trace *t;
        int err = strict ? trace_load(traces[i].from, &t) : trace_load_quietly(traces[i].from, &t);

        if (!err)
            add(b, &traces[i], t);
        else
            status = strict ? err : copy_unread(opt, b, &traces[i]);
        if (!status && (b->n == BATCH_TRACES || b->bytes >= BATCH_BYTES))
            status = write_batch(opt, b, strict);
    }
    if (!status)
        status = write_batch(opt, b, strict);
    for (size_t i = 0; i < b->n; i++)
        trace_free(b->traces[i]);
    free(b);
    return status;
}
