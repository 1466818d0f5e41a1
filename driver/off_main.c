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

/* End of what the trace has: when the last thread ended, or the tracing of running processes. */
static uint64_t end_of(const struct trace *t, bool command)
{
    uint64_t end = 0;

    for (size_t i = 0; i < t->nlives && command; i++)
        if (t->lives[i].end_ns > end)
            end = t->lives[i].end_ns;
    return end ? end : t->header.end_monotonic_ns;
}

/* Reduces a recording to its last part: up to its end, or to where it was frozen. A shorter one is
 * shown as it is. Returns the length of the part; 0: all is shown. */
static uint64_t choose_last(const struct recording *r, const struct off_options *o,
                            struct fold_options *fold, struct fold_when *last)
{
    const struct trace *t = r->waits.ntraces ? r->waits.traces[0] : NULL;
    uint64_t frozen = r->waits.frozen_ns, zero, end, from;

    if (!o->tracer.last_ns || !t)
        return 0;
    zero = t->time_zero_ns;
    end = frozen ? frozen : end_of(t, o->run.command != NULL);
    from = end > zero + o->tracer.last_ns ? end - o->tracer.last_ns : zero;
    if (end <= zero || (from == zero && !frozen))
        return 0;
    last->range = true;
    last->from = (struct fold_time){.given = true, .asked_ns = from - zero};
    last->to = (struct fold_time){.given = frozen != 0, .asked_ns = end - zero};
    for (size_t i = 0; i < r->waits.ntraces; i++)
        if (r->waits.traces[i]->nintervals)
            regiontimes_apply_range(r->waits.traces[i], from, end);
    fold->when = last;
    return end - from;
}

/* Folds once, for both picture and summary. 0, or an enum flame_exit after a line. */
static int show(const struct recording *r, const struct run_options *run)
{
    const struct off_options *o = (const struct off_options *)run;
    struct fold_options fold = o->fold;
    struct strbuf all = STRBUF_INIT, one = STRBUF_INIT;
    struct fold_when last = {.range = false};
    uint64_t shown_ns;
    bool empty = false;
    int status = 0;

    choose_region(r, o, &fold);
    shown_ns = choose_last(r, o, &fold, &last);
    fold.all_views = true;
    fold.moments = run->shows_waits && run->kind == RUN_OUTPUT_PICTURE;
    fold.lane_bytes = run->lane_bytes;
    fold.propose_idle = !run->quiet;
    fold.no_hint = run->quiet;
    fold.symbols.lines = recording_wants_lines(run);
    fold.modules = recording_wants_modules(run);
    if (run->kind != RUN_OUTPUT_TRACE || !run->quiet)
        status = fold_loaded(&fold, r->waits.traces, r->waits.ntraces, &all);
    if (!status) {
        off_summary_section(&all, run->view, &one);
        status = recording_put(
            r, run, recording_wants_all(run) || recording_wants_waits(run) ? &all : &one, &empty);
    }
    if (!status && !run->quiet) {
        off_summary_print(r, run->subject, shown_ns, &all);
        print_result_line(r, run, (const char *const[]){"off", "chain"}, empty);
    }
    if (!status)
        print_browser_line(run, empty);
    fold_when_release(&last);
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
