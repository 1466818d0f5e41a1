#include "driver/off/record_off.h"

#include <stdlib.h>

#include "common/clock.h"
#include "common/error.h"
#include "common/preloadable.h"
#include "common/env/preloadlist.h"
#include "driver/run/runtimes.h"
#include "driver/run/target.h"

/* The LD_PRELOAD list that makes `program` log its calls: libflamewait.so, then `list` (NULL:
 * nothing). NULL: libflamewait.so cannot be used, so `list` does not change; with `is_told`, a line
 * gives the reason. The run's directory has a link if the library's own path cannot be in a list.
 * The caller frees it. */
static char *inproc_preload_list(struct rundir *dir, const char *program, const char *list,
                                 bool is_told)
{
    struct preloadable_answer answer;
    const char *why = NULL, *at = list, *entry;
    char *library, *named, *all;
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
    case PRELOADABLE_MACHINE: /* the tracer itself reports that */
        return NULL;
    default:
        break;
    }
    while (!why && at && (entry = preloadlist_next(&at, &len)))
        if (preloadlist_is_sanitizer(entry, len))
            why = "has a sanitizer preloaded";
    if (why) {
        if (is_told)
            flame_warn("%s %s; all its calls stop", program, why);
        return NULL;
    }
    if (launch_find_library("libflamewait.so", &library))
        return NULL;
    named = rundir_preloadable(dir, library);
    all = named ? launch_preload_list(named, list) : NULL;
    free(named);
    free(library);
    return all;
}

int record_off_begin(struct record_off *x, struct recording *r, const struct off_options *o,
                     const char *program, const char *preload, const char *setting)
{
    x->options = o->tracer;
    if (o->in_process)
        x->inproc_preload =
            inproc_preload_list(&r->rundir, program, preload ? preload : getenv("LD_PRELOAD"),
                                o->asked_in_process == OFF_IN_PROCESS_YES || !o->run.quiet);
    x->options.watch = x->watch;
    x->options.preload = preload;
    x->options.inproc_preload = x->inproc_preload;
    x->options.setting = setting;
    x->options.agent = x->agent;
    x->options.agent_end = x->agent_end;
    x->options.recorder = o->run.records_memory && preload;
    x->options.trace_path = r->rundir.waits;
    x->options.quiet = o->run.quiet;
    x->options.no_python = o->run.no_python;
    x->options.lanes = off_options_lanes(o);
    x->start_ns = clock_ns(CLOCK_MONOTONIC);
    return tracer_begin(&x->options, &x->tracer);
}

int record_off_end(struct record_off *x, struct recording *r)
{
    struct tracer_result result;
    int status = tracer_end(x->tracer, &result);

    r->run = (struct launch_result){.wait_status = result.wait_status,
                                    .start_ns = x->start_ns,
                                    .elapsed_ns = result.elapsed_ns,
                                    .max_resident = result.max_resident};
    r->waits.cut = result.cut;
    return status;
}

void record_off_release(struct record_off *x)
{
    free(x->inproc_preload);
}

/* Makes the watch of --freeze-when, if it is given. */
static int freeze_begin(struct record_off *x, const struct off_options *o,
                        struct freezewatch **watch)
{
    if (!o->freeze.regex)
        return 0;
    *watch = freezewatch_new(&o->freeze);
    x->watch = *watch ? freezewatch_memory(*watch) : NULL;
    return *watch ? 0 : FLAME_FAILED;
}

int record_off(struct recording *r, const struct run_options *run)
{
    const struct off_options *o = (const struct off_options *)run;
    struct record_off x = {.tracer = NULL};
    struct freezewatch *watch = NULL;
    char *program = NULL;
    int status = run->command ? target_find(run->command[0], &program) : 0;

    if (!status && program)
        status = target_check_traced(program);
    if (!status)
        status = rundir_open(&r->rundir, run->me, run->output, 0);
    if (!status)
        status = freeze_begin(&x, o, &watch);
    if (!status)
        status = record_off_begin(&x, r, o, program, NULL, NULL);
    if (!status && watch)
        freezewatch_start(watch, r->rundir.waits);
    if (!status)
        status = record_off_end(&x, r);
    r->waits.frozen_ns = freezewatch_end(watch);
    if (!status && run->jit_names && o->tracer.npids)
        runtimes_ask_running(r, o->pids, o->tracer.npids);
    record_off_release(&x);
    free(program);
    return status;
}
