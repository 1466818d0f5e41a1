#include <stdio.h>
#include <stdlib.h>

#include "common/commands.h"
#include "common/error.h"
#include "driver/offopts.h"
#include "driver/offsummary.h"
#include "driver/recording.h"
#include "driver/target.h"

static int record_off(struct recording *r, const struct run_options *run)
{
    const struct off_options *o = (const struct off_options *)run;
    struct tracer_options tracer = o->tracer;
    struct tracer_result result = {0};
    struct strbuf path = STRBUF_INIT;
    char *program = NULL;
    int status = run->command ? target_find(run->command[0], &program) : 0;

    free(program);
    if (!status)
        status = session_open(&r->session, run->me, run->output);
    if (!status) {
        strbuf_addf(&path, "%s/off.flame", r->session.dir);
        tracer.trace_path = path.buf;
        status = tracer_run(&tracer, &result);
    }
    strbuf_release(&path);
    r->run = (struct launch_result){result.wait_status, result.elapsed_ns};
    return status;
}

static void tell_result(const struct run_options *o, bool empty)
{
    if (o->kind == RUN_OUTPUT_TRACE)
        flame_warn("the trace is in %s; see it with 'flame render --view off -o x.svg %s'",
                   o->output, o->output);
    else if (recording_wants_all(o))
        flame_warn(empty ? "all views are empty: nothing was made" : "all views in %s", o->output);
    else if (empty)
        flame_warn("the %s view is empty: no picture was made", o->view);
    else
        flame_warn("%s view in %s; the others: '-o x.html', or '-o x.flame' and then 'flame render "
                   "--view %s -o x.svg x.flame'",
                   o->view, o->output, strcmp(o->view, "off") == 0 ? "chain" : "off");
}

/* Folds once, for picture and summary both. 0, or an enum flame_exit after a line. */
static int show(const struct recording *r, const struct run_options *run)
{
    const struct off_options *o = (const struct off_options *)run;
    struct fold_options fold = o->fold;
    struct strbuf all = STRBUF_INIT, one = STRBUF_INIT;
    bool empty = false;
    int status = 0;

    fold.all_views = true;
    fold.symbols.lines = recording_wants_lines(run);
    if (run->kind != RUN_OUTPUT_TRACE || !run->quiet)
        status = fold_loaded(&fold, r->traces, r->session.ntraces, &all);
    if (!status) {
        off_summary_section(&all, run->view, &one);
        status = recording_put(r, run, recording_wants_all(run) ? &all : &one, &empty);
    }
    if (!status && !run->quiet) {
        off_summary_print(r, run->subject, &all);
        tell_result(run, empty);
    }
    strbuf_release(&all);
    strbuf_release(&one);
    return status;
}

int off_main(int argc, char **argv)
{
    struct off_options o;
    int status = off_options_parse(&o, argc, argv);

    if (status < 0)
        status = recording_run(&o.run, record_off, show);
    off_options_release(&o);
    return status;
}
