#include <stdio.h>
#include <stdlib.h>

#include "common/commands.h"
#include "common/error.h"
#include "common/preloadable.h"
#include "common/env/preloadlist.h"
#include "driver/off/offopts.h"
#include "driver/off/offsummary.h"
#include "driver/run/launch.h"
#include "driver/run/recording.h"
#include "driver/run/target.h"
#include "driver/run/tell.h"

/* What is to be preloaded into `program` for --inside; NULL: nothing, after a line. */
static char *inside_list(const char *program)
{
    struct preloadable_answer answer;
    const char *why = NULL, *list = getenv("LD_PRELOAD"), *at = list, *entry;
    char *library, *all;
    size_t len;

    preloadable_judge(program, &preloadable_here, &answer);
    switch (answer.verdict) {
    case PRELOADABLE_MUSL:
        why = "uses musl";
        break;
    case PRELOADABLE_SANITIZER:
    case PRELOADABLE_LEAK_SANITIZER:
        why = "is built with a sanitizer";
        break;
    case PRELOADABLE_MACHINE:
        why = "is built for another processor or word size";
        break;
    default:
        break;
    }
    while (!why && at && (entry = preloadlist_next(&at, &len)))
        if (preloadlist_is_sanitizer(entry, len))
            why = "has a sanitizer preloaded";
    if (why) {
        flame_warn("--inside: %s %s; all calls stop", program, why);
        return NULL;
    }
    if (launch_find_library("libflamewait.so", &library))
        return NULL;
    all = launch_preload_list(library, list);
    free(library);
    return all;
}

static int record_off(struct recording *r, const struct run_options *run)
{
    const struct off_options *o = (const struct off_options *)run;
    struct tracer_options tracer = o->tracer;
    struct tracer_result result = {0};
    struct strbuf path = STRBUF_INIT;
    struct tracer *begun;
    char *program = NULL, *inside = NULL;
    int status = run->command ? target_find(run->command[0], &program) : 0;

    if (!status && o->inside)
        tracer.inside = inside = inside_list(program);
    free(program);
    if (!status)
        status = rundir_open(&r->rundir, run->me, run->output, 0);
    if (!status) {
        strbuf_addf(&path, "%s/off.flame", r->rundir.path);
        tracer.trace_path = path.buf;
        tracer.quiet = run->quiet;
        status = tracer_begin(&tracer, &begun);
    }
    if (!status)
        status = tracer_end(begun, &result);
    strbuf_release(&path);
    free(inside);
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
