#include <stdio.h>

#include "common/commands.h"
#include "common/error.h"
#include "driver/off/offsummary.h"
#include "driver/off/record_off.h"
#include "driver/run/result_line.h"
#include "fold/analysis/regiontimes.h"

/* Chooses the region to draw. If no trace has it, all of the run is drawn: a long run is not
 * thrown away for a wrong name. */
static void choose_region(const struct recording *r, const struct off_options *o,
                          struct fold_options *fold)
{
    bool has = false;

    for (size_t i = 0; i < r->waits.ntraces && !has && o->when.region; i++)
        has = regiontimes_has(r->waits.traces[i], o->when.region);
    if (o->when.region && !has)
        flame_warn("--region %s: no such region was seen; all of the run is shown", o->when.region);
    for (size_t i = 0; i < r->waits.ntraces && has; i++)
        if (regiontimes_has(r->waits.traces[i], o->when.region))
            regiontimes_apply(r->waits.traces[i], o->when.region);
    fold->when = has ? (struct fold_when *)&o->when : NULL;
}

/* Folds once, for both picture and summary. 0, or an enum flame_exit after a line. */
static int show(const struct recording *r, const struct run_options *run)
{
    const struct off_options *o = (const struct off_options *)run;
    struct fold_options fold = o->fold;
    struct strbuf all = STRBUF_INIT, one = STRBUF_INIT;
    bool empty = false;
    int status = 0;

    choose_region(r, o, &fold);
    fold.all_views = true;
    fold.moments = run->shows_moments && run->kind == RUN_OUTPUT_PICTURE;
    fold.propose_idle = !run->quiet;
    fold.no_hint = run->quiet;
    fold.symbols.lines = recording_wants_lines(run);
    fold.modules = recording_wants_modules(run);
    if (run->kind != RUN_OUTPUT_TRACE || !run->quiet)
        status = fold_loaded(&fold, r->waits.traces, r->waits.ntraces, &all);
    if (!status) {
        off_summary_section(&all, run->view, &one);
        status = recording_put(r, run, recording_wants_all(run) ? &all : &one, &empty);
    }
    if (!status && !run->quiet) {
        off_summary_print(r, run->subject, &all);
        print_result_line(r, run, (const char *const[]){"off", "chain"}, empty);
    }
    if (!status)
        print_browser_line(run, empty);
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
