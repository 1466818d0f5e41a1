#include "driver/run/result_line.h"

#include <stdlib.h>

#include "common/env/openpage.h"
#include "common/error.h"
#include "fold/analysis/recordingset.h"
#include "fold/viewtable.h"

static void print_one_file(const struct run_options *o, size_t n, const char *view)
{
    if (o->faults)
        flame_warn("%zu traces, of programs and of their page faults, in %s; see them with 'flame "
                   "render --view fault -o x.svg %s'",
                   n, o->output, o->output);
    else
        flame_warn("%zu programs in %s; see them with 'flame render --view %s -o x.svg %s'", n,
                   o->output, view, o->output);
}

static void print_one_trace(const struct run_options *o, const char *view)
{
    flame_warn("the trace is in %s; see it with 'flame render --view %s -o x.svg %s'", o->output,
               view, o->output);
}

static void print_files(const struct run_options *o, size_t n, const char *view)
{
    char *last = recordingset_name(o->output, n - 1);

    if (o->faults)
        flame_warn("%zu traces, of programs and of their page faults: %s to %s; 'flame render "
                   "--view fault -o x.svg %s' takes all of them",
                   n, o->output, last, o->output);
    else
        flame_warn("%zu programs, a trace each: %s to %s; 'flame render --view %s -o x.svg %s' "
                   "takes all of them",
                   n, o->output, last, view, o->output);
    free(last);
}

/* The trace of waiting has a file of its own only if those of memory have, too. */
static void print_waits_beside(const struct run_options *o)
{
    char *waits = recording_waits_name(o->output);

    flame_warn("the trace of waiting is in %s; see it with 'flame render -o x.svg %s'", waits,
               waits);
    free(waits);
}

static void print_traces(const struct recording *r, const struct run_options *o, const char *view)
{
    size_t n = r->rundir.ntraces;
    bool both = n && o->records_memory && r->waits.ntraces, apart = recording_has_files(o->output);

    if (both && !apart)
        flame_warn("memory and waiting in %s; see them with 'flame render -o x.html %s'", o->output,
                   o->output);
    else if (n <= 1)
        print_one_trace(o, n ? view : "off");
    else if (apart)
        print_files(o, n, view);
    else
        print_one_file(o, n, view);
    if (both && apart)
        print_waits_beside(o);
}

void print_result_line(const struct recording *r, const struct run_options *o,
                       const char *const views[], bool empty)
{
    const char *other = views[strcmp(views[0], o->view) == 0];

    if (o->kind == RUN_OUTPUT_TRACE)
        print_traces(r, o, view_find(o->view)->recorder == TRACE_RECORDER_MEM ? o->view : views[0]);
    else if (recording_wants_all(o))
        flame_warn(empty ? "all views are empty: nothing was made" : "all views in %s", o->output);
    else if (empty && o->kind == RUN_OUTPUT_PICTURE)
        flame_warn("the %s view is empty: no picture was made", o->view);
    else
        flame_warn("%s view%s in %s; the others: '-o x.html', or '-o x.flame' and then 'flame "
                   "render --view %s -o x.svg x.flame'",
                   o->view, o->kind == RUN_OUTPUT_FOLDED ? ", folded," : "", o->output, other);
}

void print_browser_line(const struct run_options *o, bool empty)
{
    if (o->open && !empty)
        openpage(o->output);
}
