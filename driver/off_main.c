#include <stdio.h>
#include <stdlib.h>

#include "common/commands.h"
#include "common/error.h"
#include "driver/offopts.h"
#include "driver/offsummary.h"
#include "driver/recording.h"
#include "driver/target.h"
#include "driver/tell.h"

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
        status = session_open(&r->session, run->me, run->output, 0);
    if (!status) {
        strbuf_addf(&path, "%s/off.flame", r->session.dir);
        tracer.trace_path = path.buf;
        tracer.quiet = run->quiet;
        status = tracer_run(&tracer, &result);
    }
    strbuf_release(&path);
    r->run =
        (struct launch_result){.wait_status = result.wait_status, .elapsed_ns = result.elapsed_ns};
    return status;
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
    fold.propose_idle = !run->quiet;
    fold.no_hint = run->quiet;
    fold.symbols.lines = recording_wants_lines(run);
    if (run->kind != RUN_OUTPUT_TRACE || !run->quiet)
        status = fold_loaded(&fold, r->traces, r->ntraces, &all);
    if (!status) {
        off_summary_section(&all, run->view, &one);
        status = recording_put(r, run, recording_wants_all(run) ? &all : &one, &empty);
    }
    if (!status && !run->quiet) {
        off_summary_print(r, run->subject, &all);
        tell_result(r, run, (const char *const[]){"off", "chain"}, empty);
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
