#include <stdio.h>

#include "common/commands.h"
#include "driver/off/offsummary.h"
#include "driver/off/record_off.h"
#include "driver/run/tell.h"

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
        status = fold_loaded(&fold, r->waits.traces, r->waits.ntraces, &all);
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
