#include "driver/live/liverun.h"

#include <stdlib.h>

#include "common/alloc.h"
#include "common/commands.h"
#include "driver/off/record_off.h"
#include "driver/run/record_mem.h"
#include "driver/run/target.h"

static const char *run_in; /* parent of the run's directory */

/* TMPDIR is `run_in` while directories are created; the program gets the original one. */
struct tmpdir {
    char *before; /* NULL: it was not set */
};

static struct tmpdir take_tmpdir(void)
{
    const char *before = getenv("TMPDIR");
    struct tmpdir t = {before ? xstrdup(before) : NULL};

    setenv("TMPDIR", run_in, 1);
    return t;
}

static void give_tmpdir_back(struct tmpdir t)
{
    if (t.before)
        setenv("TMPDIR", t.before, 1);
    else
        unsetenv("TMPDIR");
    free(t.before);
}

static int record_memory(struct recording *r, const struct run_options *o)
{
    struct record_mem m = {.program = NULL};
    struct tmpdir tmpdir = take_tmpdir();
    int status = record_mem_prepare(&m, r, o, false);

    give_tmpdir_back(tmpdir);
    if (!status) {
        record_mem_begin(&m, r, o);
        status = launch_run(o->command, m.preload, m.options, &r->run);
        record_mem_end(&m, r);
    }
    record_mem_release(&m);
    return status;
}

static int record_waits(struct recording *r, const struct run_options *run)
{
    const struct off_options *o = (const struct off_options *)run;
    struct record_off x = {.tracer = NULL};
    struct tmpdir tmpdir;
    char *program = NULL;
    int status = target_find(run->command[0], &program);

    if (!status) {
        tmpdir = take_tmpdir();
        status = rundir_open(&r->rundir, run->me, run->output, 0);
        give_tmpdir_back(tmpdir);
    }
    if (!status)
        status = record_off_begin(&x, r, o, program, NULL, NULL);
    if (!status)
        status = record_off_end(&x, r);
    record_off_release(&x);
    free(program);
    return status;
}

static int keep(const struct recording *r, const struct run_options *o)
{
    struct strbuf none = STRBUF_INIT;
    bool empty;

    return recording_put(r, o, &none, &empty);
}

/* Parses the command line that a user would have written, so that options have the same meaning. */
static int parse(struct off_options *o, enum live_what what, char **command, const char *result)
{
    size_t n = 0, ncommand = 0;
    const char **argv;
    int status;

    while (command[ncommand])
        ncommand++;
    argv = xcalloc(ncommand + 8, sizeof *argv);
    argv[n++] = what == LIVE_MEMORY ? "mem" : "off";
    argv[n++] = "-q";
    argv[n++] = "--no-names"; /* they are found again, and the end comes sooner */
    argv[n++] = "-o";
    argv[n++] = result;
    argv[n++] = "--";
    for (size_t i = 0; i < ncommand; i++)
        argv[n + i] = command[i];
    if (what == LIVE_MEMORY) {
        o->run = (struct run_options){
            .me = "live", .records_memory = true, .view = "alloc", .follow = true};
        status = run_options_parse(&mem_command, &o->run, (int)(n + ncommand), (char **)argv);
    } else {
        status = off_options_parse(o, (int)(n + ncommand), (char **)argv);
        o->run.me = "live";
        o->tracer.argv = command;
    }
    free(argv);
    if (status < 0) /* parsed options borrow the words, but the list of the words is freed */
        o->run.command = command;
    return status;
}

int liverun(enum live_what what, char **command, const char *dir, const char *result)
{
    struct off_options o = {.pids = NULL};
    int status = parse(&o, what, command, result);

    run_in = dir;
    if (status < 0)
        status = recording_run(&o.run, what == LIVE_MEMORY ? record_memory : record_waits, keep);
    if (what == LIVE_MEMORY)
        run_options_release(&o.run);
    else
        off_options_release(&o);
    return status;
}
