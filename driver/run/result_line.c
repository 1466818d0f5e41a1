#include "driver/run/result_line.h"

#include <stdlib.h>

#include "common/env/openpage.h"
#include "common/error.h"
#include "fold/viewtable.h"

static void print_memory(const struct recording *r, const struct run_options *o, const char *view)
{
    size_t n = r->rundir.ntraces;
    char *last;

    if (n <= 1) {
        flame_warn("the trace is in %s; see it with 'flame render --view %s -o x.svg %s'",
                   o->output, view, o->output);
        return;
    }
    last = recording_trace_name(o->output, n - 1);
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

static void print_traces(const struct recording *r, const struct run_options *o, const char *view)
{
    bool both = o->records_memory && r->waits.ntraces;
    char *waits = both ? recording_waits_name(o->output) : NULL;

    if (!both || r->rundir.ntraces)
        print_memory(r, o, view);
    if (both)
        flame_warn("the trace of waiting is in %s; see it with 'flame render -o x.svg %s'", waits,
                   waits);
    free(waits);
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
