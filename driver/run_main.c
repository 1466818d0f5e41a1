/*
 * run_main.c: memory and waiting of one command, or of a running process, in one run.
 *
 * The recorder of memory is inside the program, the tracer of waiting outside; each has the parts
 * that `flame mem` and `flame off` have alone. The page is drawn from the folded stacks of all
 * views of both, which are columns of one tree.
 */
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#include "common/alloc.h"
#include "common/commands.h"
#include "common/error.h"
#include "common/options/values.h"
#include "driver/off/offsummary.h"
#include "driver/off/record_both.h"
#include "driver/off/record_off.h"
#include "driver/run/kept_coverage.h"
#include "driver/run/record_attach.h"
#include "driver/run/record_mem.h"
#include "driver/run/runsummary.h"
#include "driver/run/result_line.h"
#include "fold/viewtable.h"

struct both_options {
    struct off_options off; /* first: recording.h hands it back */
    struct opts_list outputs;
    enum run_output *kinds; /* of each output */
    char *snapshots;
};

#define AT(member) offsetof(struct both_options, member)

/* By its address it is known to be the default. */
static const char default_view[] = "alloc";

#define SECOND_NS 1000000000

static const struct opts_row rows[] = {
    {"attach", 'p', "PID", "record this process, which runs already, from now on",
     .take = opts_take_pid, .at = AT(off.run.attach)},
    {"duration", 'd', "TIME", "with -p: leave the process after so many seconds",
     .take = opts_take_time, .at = AT(off.tracer.duration_ns), .least = 1, .which = SECOND_NS},
    {"no-stops",
     .help = "with -p: stop no thread while it records, as flame off --no-stops; only at its begin "
             "and its end, and for libraries that are loaded meanwhile, for memory",
     .take = opts_take_true, .at = AT(off.tracer.no_stops)},
    {"output", 'o', "FILE",
     "the result; its ending picks .html (a page with all views), .svg, .png, .folded, .flame (all "
     "traces, in one file), or an export like .pb.gz (see flame render --help); "
     "several: all of these (default: COMMAND-run.html or pid-PID-run.html in the present "
     "directory)",
     .take = opts_take_list, .at = AT(outputs)},
    {"view", .arg = "VIEW",
     .help = "what a result of one view counts, and what the page shows first",
     .take = opts_take_choice, .at = AT(off.run.view), .add_words = view_words,
     .add_help = view_help},
    {0},
};

const struct opts_command run_command = {
    .name = "run",
    .summary = "run a command, record memory and waiting, draw both",
    .usage = "[OPTION...] [--] COMMAND [ARGUMENT...]\n"
             "[OPTION...] -p PID [-d TIME]",
    .about = "Runs COMMAND once, with the recorder of flame mem in it and under the tracer of\n"
             "flame off, and draws what both found: a page with all views. Output, signals and\n"
             "exit status of COMMAND are its own. Or records both of a running process from\n"
             "now on, until -d, Ctrl-C or its end.",
    .tables = {{rows, 0},
               {run_rows_of_roots, AT(off.run)},
               {run_rows_of_memory, AT(off.run)},
               {age_rows, AT(off.run.ages)},
               {off_rows_of_waiting, AT(off)},
               {run_rows, AT(off.run)}},
    .operands = OPTS_COMMAND,
};

/* ---- options ---- */

static bool is_of_memory(const char *view)
{
    return view_find(view)->recorder == TRACE_RECORDER_MEM;
}

static bool is_given_before(const struct both_options *o, size_t i)
{
    for (size_t k = 0; k < i; k++)
        if (strcmp(o->outputs.items[k], o->outputs.items[i]) == 0)
            return true;
    return false;
}

static size_t stem_of(const char *output)
{
    size_t len = strlen(output), end = strlen(".flame");

    return len > end && strcmp(output + len - end, ".flame") == 0 ? len - end : 0;
}

/* Whether traces of output `of` would be written to `output`: x.off.flame and x.2.flame belong
 * to x.flame. */
static bool is_beside(const char *of, const char *output)
{
    size_t stem = stem_of(of), len = stem_of(output);
    const char *between = output + stem;

    if (!stem || len <= stem + 1 || strncmp(of, output, stem) != 0 || *between++ != '.')
        return false;
    len -= stem + 1;
    return strspn(between, "0123456789") == len || (len == 3 && strncmp(between, "off", len) == 0);
}

static int check_beside(const struct both_options *o)
{
    for (size_t i = 0; i < o->outputs.n; i++)
        for (size_t k = 0; k < o->outputs.n; k++)
            if (is_beside(o->outputs.items[i], o->outputs.items[k]))
                return flame_error(FLAME_USAGE,
                                   "run: -o %s and -o %s: the first has traces of that name as "
                                   "well; name another file",
                                   o->outputs.items[i], o->outputs.items[k]);
    return 0;
}

/* Finds the kind of each output, and whether it can be written; the recording serves all of
 * them. -1, or an exit status after a line. */
static int finish_outputs(struct both_options *o)
{
    struct run_options *run = &o->off.run;
    bool traces = false, open = run->open, browsed = false;
    int status = -1;

    if (!o->outputs.n)
        return run_options_finish(run);
    if (check_beside(o))
        return FLAME_USAGE;
    o->kinds = xcalloc(o->outputs.n, sizeof *o->kinds);
    run->open = false; /* one output that a browser can show is enough */
    for (size_t i = 0; i < o->outputs.n && status < 0; i++) {
        run->output = o->outputs.items[i];
        if (is_given_before(o, i))
            return flame_error(FLAME_USAGE, "run: -o %s is given twice; name another file",
                               run->output);
        status = run_options_finish(run);
        o->kinds[i] = run->kind;
        traces = traces || run->kind == RUN_OUTPUT_TRACE;
        browsed = browsed || (status < 0 && run_options_is_browsed(run));
    }
    run->open = open;
    run->output = o->outputs.items[0];
    if (status < 0 && open && !browsed)
        status = run_options_not_browsed(run);
    run->kind = traces ? RUN_OUTPUT_TRACE : o->kinds[0];
    return status;
}

/* The process of -p. `rest`: the arguments after the options. 0, or FLAME_USAGE after a line. */
static int settle_process(struct off_options *o, char **rest)
{
    struct strbuf subject = STRBUF_INIT;

    if (*rest)
        return flame_error(FLAME_USAGE, "run: -p and a command, '%s'; record one or the other",
                           *rest);
    o->pids = xcalloc(1, sizeof *o->pids);
    o->pids[0] = (pid_t)o->run.attach;
    o->tracer.pids = o->pids;
    o->tracer.npids = 1;
    o->run.attach_ns = o->tracer.duration_ns;
    strbuf_addf(&subject, "pid-%u", o->run.attach);
    o->run.subject = o->subject = strbuf_detach(&subject, NULL);
    return record_attach_check(&o->run);
}

/* Like settle_process, for a command. */
static int settle_command(struct off_options *o, char **rest)
{
    if (o->tracer.duration_ns)
        return flame_error(FLAME_USAGE,
                           "run: -d is for a process that runs already; name it with -p");
    return run_options_command(&o->run, rest);
}

/* -1: no error; else the exit status. */
static int parse(struct both_options *o, int argc, char **argv)
{
    struct run_options *run = &o->off.run;
    int first, status;

    off_options_init(&o->off, "run", default_view);
    run->records_memory = true;
    status = opts_parse(&run_command, o, argc, argv, &first);
    if (status >= 0)
        return status;
    run->view_is_default = run->view == default_view;
    run->waits_suffice = run->view_is_default || !is_of_memory(run->view);
    status =
        run->attach ? settle_process(&o->off, argv + first) : settle_command(&o->off, argv + first);
    if (!status)
        status = off_options_settle(&o->off);
    if (!status)
        status = run_options_look(run);
    if (!status)
        status = run_options_snapshots(run, &o->snapshots);
    if (!status)
        status = finish_outputs(o);
    return status < 0 ? off_options_check_lanes(&o->off) : status;
}

static void release(struct both_options *o)
{
    off_options_release(&o->off);
    opts_list_release(&o->outputs);
    free(o->kinds);
    free(o->snapshots);
}

/* ---- the run ---- */

static int run_traced(struct recording *r, const struct both_options *o, struct record_mem *m)
{
    struct record_off x = {.tracer = NULL};
    struct strbuf setting = STRBUF_INIT;
    int status;

    if (m->options)
        strbuf_addf(&setting, "FLAMEMEM_OPTIONS=%s", m->options);
    status =
        record_off_begin(&x, r, &o->off, m->program, m->preload, m->options ? setting.buf : NULL);
    if (!status) {
        /* The tracing process is a fork of this one, so threads start after it. */
        record_mem_begin(m, r, &o->off.run);
        status = record_off_end(&x, r);
        record_mem_end(m, r);
    }
    record_off_release(&x);
    strbuf_release(&setting);
    return status;
}

static int record_both(struct recording *r, const struct run_options *run)
{
    const struct both_options *o = (const struct both_options *)run;
    struct record_mem m = {.program = NULL};
    int status = record_mem_prepare(&m, r, run, !o->off.tracer.no_filter);

    r->no_recorder = m.memory != TARGET_MEMORY;
    if (!status)
        status = run_traced(r, o, &m);
    record_mem_release(&m);
    return status;
}

/* ---- results ---- */

/* Folded text of all views of waiting, with and without source lines, built at first use. */
struct waiting {
    struct strbuf text[2];
    bool folded[2];
    struct strbuf shown; /* the text of the first output that is drawn, and its first view */
    const char *shown_view;
};

static int fold_waiting(struct waiting *w, const struct recording *r, const struct both_options *o,
                        bool lines)
{
    bool again = w->folded[!lines], quiet = o->off.run.quiet;
    struct fold_options fold = o->off.fold;

    if (w->folded[lines])
        return 0;
    w->folded[lines] = true;
    if (!r->waits.ntraces)
        return 0;
    fold.all_views = true;
    fold.moments = o->off.run.shows_waits;
    fold.lane_bytes = o->off.run.lane_bytes;
    fold.quiet = again;
    fold.propose_idle = !quiet && !again;
    fold.no_hint = quiet || again;
    fold.symbols.lines = lines;
    fold.modules = true; /* one text is for several outputs; outputs without modules drop them */
    return fold_loaded(&fold, r->waits.traces, r->waits.ntraces, &w->text[lines]);
}

/* Folds all views of both, those of memory first. */
static int fold_both(struct waiting *w, const struct recording *r, const struct both_options *o,
                     bool lines, struct strbuf *to)
{
    struct fold_options fold = recording_fold_options(&o->off.run);
    int status;

    fold.all_views = true;
    fold.moments = o->off.run.moments;
    fold.no_hint = true;
    fold.symbols.lines = lines;
    fold.modules = true;
    status = r->ntraces ? fold_loaded(&fold, r->traces, r->ntraces, to) : 0;

    if (!status)
        status = fold_waiting(w, r, o, lines);
    if (!status)
        strbuf_add(to, w->text[lines].buf, w->text[lines].len);
    return status;
}

static int fold_one(struct waiting *w, const struct recording *r, const struct both_options *o,
                    const struct run_options *one, struct strbuf *to)
{
    bool lines = recording_wants_lines(one);
    int status;

    if (is_of_memory(one->view))
        return r->ntraces ? recording_fold(r, one, true, lines, to)
                          : recording_left_nothing(r, one);
    if (!r->waits.ntraces)
        return flame_error(FLAME_FAILED,
                           "%s: not made: the view %s is of waits, and there are none", one->output,
                           one->view);
    status = fold_waiting(w, r, o, lines);
    if (status)
        return status;
    if (recording_wants_waits(one))
        strbuf_add(to, w->text[lines].buf, w->text[lines].len);
    else
        off_summary_section(&w->text[lines], one->view, to);
    return 0;
}

/* Writes one of the outputs. */
static int write_output(struct waiting *w, const struct recording *r, const struct both_options *o,
                        struct run_options *one, bool *empty)
{
    struct strbuf folded = STRBUF_INIT;
    int status = 0;

    if (recording_wants_all(one)) {
        status = fold_both(w, r, o, recording_wants_lines(one), &folded);
        if (!r->ntraces && is_of_memory(one->view))
            one->view = "off";
        else if (!r->waits.ntraces && !is_of_memory(one->view))
            one->view = "alloc";
    } else if (one->kind != RUN_OUTPUT_TRACE) {
        status = fold_one(w, r, o, one, &folded);
    }
    if (!status)
        status = recording_put(r, one, &folded, empty);
    if (!status && !w->shown.len && !one->quiet) {
        w->shown_view = one->view;
        strbuf_add(&w->shown, folded.buf, folded.len);
    }
    strbuf_release(&folded);
    return status;
}

static int print_both(struct waiting *w, const struct recording *r, const struct both_options *o)
{
    bool lines = w->folded[true] && !w->folded[false];
    struct run_options shown = o->off.run;
    struct run_summary s;
    int status = fold_waiting(w, r, o, lines);

    if (status)
        return status;
    if (r->ntraces && o->off.run.attach) {
        record_attach_print(r, &o->off.run);
    } else if (r->ntraces) {
        run_summary_make(&s, r);
        run_summary_print(&s, r);
    } else if (!r->no_recorder) {
        recording_left_nothing(r, &o->off.run);
    }
    if (r->ntraces && o->off.run.kept)
        kept_coverage_print(r);
    if (r->waits.ntraces)
        off_summary_print(r, o->off.run.subject, 0, &w->text[lines]);
    shown.view = w->shown_view;
    recording_print_findings(r, &shown, &w->shown, "lock"); /* the summary has reported the lock */
    return 0;
}

static size_t count_outputs(const struct both_options *o)
{
    return o->outputs.n ? o->outputs.n : 1;
}

static struct run_options output_of(const struct recording *r, const struct both_options *o,
                                    size_t i)
{
    struct run_options one = o->off.run;

    if (r->no_recorder && !r->ntraces && one.view_is_default)
        one.view = "off";
    if (o->outputs.n) {
        one.output = o->outputs.items[i];
        one.kind = o->kinds[i];
    }
    return one;
}

/* Opens the first of the results that a browser can show. */
static void open_first(const struct recording *r, const struct both_options *o, const bool *empty)
{
    for (size_t i = 0; i < count_outputs(o); i++) {
        struct run_options one = output_of(r, o, i);

        if (run_options_is_browsed(&one)) {
            print_browser_line(&one, empty[i]);
            return;
        }
    }
}

/* Two views, of which a line names one that the output does not show. */
static const char *const *view_examples(const struct recording *r)
{
    static const char *const of_memory[] = {"alloc", "peak"}, *const of_waits[] = {"off", "chain"};

    return r->no_recorder && !r->ntraces ? of_waits : of_memory;
}

/* 0, or an enum flame_exit after a line: outputs that were written before the error remain. */
static int show(const struct recording *r, const struct run_options *run)
{
    const struct both_options *o = (const struct both_options *)run;
    struct waiting w = {{STRBUF_INIT, STRBUF_INIT}, {false, false}, STRBUF_INIT, NULL};
    size_t n = count_outputs(o);
    bool *empty = xcalloc(n, sizeof *empty), *lacks = xcalloc(n, sizeof *lacks), any = false;
    int status = 0;

    for (size_t i = 0; i < n && !status; i++) {
        struct run_options one = output_of(r, o, i);

        lacks[i] = empty[i] = run->attach && record_attach_lacks(&one);
        any = any || lacks[i];
        status = lacks[i] ? 0 : write_output(&w, r, o, &one, &empty[i]);
    }
    if (!status && !run->quiet)
        status = print_both(&w, r, o);
    for (size_t i = 0; i < n && !status && !run->quiet; i++) {
        struct run_options one = output_of(r, o, i);

        if (run->attach && !record_attach_has(one.view))
            one.view = "alloc";
        if (!lacks[i])
            print_result_line(r, &one, view_examples(r), empty[i]);
    }
    if (!status)
        open_first(r, o, empty);
    free(empty);
    free(lacks);
    strbuf_release(&w.text[0]);
    strbuf_release(&w.text[1]);
    strbuf_release(&w.shown);
    return !status && any ? FLAME_FAILED : status;
}

int run_main(int argc, char **argv)
{
    struct both_options o = {.snapshots = NULL};
    int status = parse(&o, argc, argv);

    if (status < 0)
        status =
            recording_run(&o.off.run, o.off.run.attach ? record_both_attached : record_both, show);
    release(&o);
    return status;
}
