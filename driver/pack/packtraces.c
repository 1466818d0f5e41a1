/*
 * Many traces of a run have the same programs, whose files are read once for all traces of a batch.
 * A batch is bounded, as its traces are in memory together.
 */
#include "driver/pack/packtraces.h"

#include <stdlib.h>
#include <sys/stat.h>

#include "common/alloc.h"
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

static uint64_t size_of(const char *path)
{
    struct stat st;

    return stat(path, &st) == 0 && st.st_size > 0 ? (uint64_t)st.st_size : 0;
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
            status =
                tracecopy(b->of[i]->from, b->of[i]->to, &b->of[i]->of, named ? &b->names[i] : NULL);
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
    b->bytes += size_of(of->from);
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
            status = strict ? err : tracecopy(traces[i].from, traces[i].to, &traces[i].of, NULL);
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
