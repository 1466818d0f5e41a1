/*
 * The traces of a run that -o x.flame keeps. Those of memory, one for each program, and that of
 * waiting behind them become one file (driver/pack/tracebundle.h), which can be mailed.
 *
 * Where one file may not be as long as they are together, under a file size limit or on a file
 * system with 4 GiB at most, each becomes a file, as in fold/analysis/recordingset.h. Rejected: the
 * same on a full disk, where the files take as much; there the run's directory is kept.
 */
#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "common/alloc.h"
#include "common/error.h"
#include "common/files/trace_file.h"
#include "driver/pack/packtraces.h"
#include "driver/run/recording.h"
#include "fold/analysis/recordingset.h"

char *recording_waits_name(const char *output)
{
    struct strbuf name = STRBUF_INIT;

    strbuf_add(&name, output, strlen(output) - strlen(".flame"));
    strbuf_addstr(&name, ".off.flame");
    return strbuf_detach(&name, NULL);
}

bool recording_has_files(const char *output)
{
    struct stat st;
    uint32_t n;

    return stat(output, &st) == 0 && S_ISREG(st.st_mode) &&
           (trace_file_count(output, &n) != 0 || n == 0);
}

/* Copies traces with the names of their addresses, or as they are. */
static int copy_traces(const struct run_options *o, const struct packtrace *traces, size_t n)
{
    static const struct symbol_options usual;
    int status = 0;

    if (!o->no_names)
        return pack_traces(&usual, traces, n, false);
    for (size_t i = 0; i < n && !status; i++)
        status = pack_copy(&traces[i], NULL);
    return status;
}

/* Whether there is a trace of waiting to keep. */
static bool has_waits(const struct recording *r, const struct run_options *o)
{
    return o->traces_waits && r->waits.ntraces;
}

static size_t count_traces(const struct recording *r, const struct run_options *o)
{
    return r->rundir.ntraces + has_waits(r, o);
}

/* Writes all traces into one file. *too_large: there was no room for it in one file. 0, or an enum
 * flame_exit after a line, but for that. */
static int keep_in_one(const struct recording *r, const struct run_options *o, bool *too_large)
{
    size_t n = count_traces(r, o);
    struct packtrace *traces = xcalloc(n, sizeof *traces);
    struct trace_fileset of = recordingset_new((uint32_t)n);
    struct tracebundle b;
    int err = tracebundle_open(&b, o->output, (uint32_t)n), status = 0;

    for (size_t i = 0; i < n; i++, of.file++)
        traces[i] = (struct packtrace){.from = i < r->rundir.ntraces ? r->rundir.traces[i]
                                                                     : r->rundir.waits,
                                       .to = o->output,
                                       .into = &b,
                                       .of = of};
    if (!err && (status = copy_traces(o, traces, n)) != 0)
        tracebundle_abort(&b);
    else if (!err)
        err = tracebundle_commit(&b);
    free(traces);
    *too_large = b.too_large || err == -EFBIG;
    if (err && !*too_large)
        flame_cannot_write(o->output, err);
    return err || *too_large ? FLAME_FAILED : status;
}

/* Writes each trace of memory to a file. */
static int keep_memory(const struct recording *r, const struct run_options *o)
{
    size_t n = r->rundir.ntraces;
    struct packtrace *traces = xcalloc(n, sizeof *traces);
    char **to = xcalloc(n, sizeof *to);
    struct trace_fileset of = {.files = 0};
    int status;

    if (n > 1)
        of = recordingset_new((uint32_t)n);
    for (size_t i = 0; i < n; i++, of.file++) {
        to[i] = recordingset_name(o->output, i);
        traces[i] = (struct packtrace){.from = r->rundir.traces[i], .to = to[i], .of = of};
    }
    status = copy_traces(o, traces, n);
    for (size_t i = 0; i < n; i++)
        free(to[i]);
    free(to);
    free(traces);
    return status;
}

/* Writes the trace of waiting to a file. */
static int keep_waits(const struct recording *r, const struct run_options *o, const char *to)
{
    return copy_traces(o, &(struct packtrace){.from = r->rundir.waits, .to = to}, 1);
}

/* Writes each trace to a file: that of waiting to the output if it is alone, else beside it. */
static int keep_apart(const struct recording *r, const struct run_options *o)
{
    char *waits;
    int status;

    if (!r->rundir.ntraces)
        return keep_waits(r, o, o->output);
    status = keep_memory(r, o);
    if (status || !has_waits(r, o))
        return status;
    waits = recording_waits_name(o->output);
    status = keep_waits(r, o, waits);
    free(waits);
    return status;
}

int recording_keep_traces(const struct recording *r, const struct run_options *o)
{
    size_t n = count_traces(r, o);
    bool too_large = false;
    int status;

    if (!n) {
        recording_remove_older(o->output);
        return 0;
    }
    if (n == 1 || n > TRACE_LIST_MAX)
        return keep_apart(r, o);
    status = keep_in_one(r, o, &too_large);
    if (!too_large)
        return status;
    flame_warn("%s: %zu traces are too large for one file here, so each becomes a file", o->output,
               n);
    return keep_apart(r, o);
}
