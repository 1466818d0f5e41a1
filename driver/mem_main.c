#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#include "common/commands.h"
#include "common/error.h"
#include "common/options/values.h"
#include "driver/run/record_mem.h"
#include "driver/run/runsummary.h"
#include "driver/run/tell.h"
#include "fold/viewtable.h"

#define AT(member) offsetof(struct run_options, member)

static const struct opts_row rows[] = {
    {"output", 'o', "FILE",
     "the result; its ending picks .svg, .html (a page with all views), .png, .folded, .flame "
     "(the trace), or an export like .pb.gz (see flame render --help) (default: COMMAND-mem.svg "
     "in the present directory)",
     .take = opts_take_text, .at = AT(output)},
    {"view", .arg = "VIEW", .help = "what is counted", .take = opts_take_choice, .at = AT(view),
     .add_words = view_words_mem, .add_help = view_help_mem},
    {"inside",
     .help = "count what malloc and the C library map inside themselves, too, for --view mmap and "
             "unmapped: their calls are patched in the program's memory",
     .take = opts_take_true, .at = AT(inside)},
    {"shim", .help = "print where libflamemem.so is, and nothing else", .take = opts_take_true,
     .at = AT(only_shim)},
    {0},
};

const struct opts_command mem_command = {
    .name = "mem",
    .summary = "run a command, record its memory, draw it",
    .usage = "[OPTION...] [--] COMMAND [ARGUMENT...]",
    .about = "Runs COMMAND with libflamemem.so, which records what every stack allocates and\n"
             "frees, and draws it. Output, signals and exit status of COMMAND are its own.",
    .tables = {{rows, 0},
               {run_rows_of_roots, 0},
               {run_rows_of_memory, 0},
               {age_rows, offsetof(struct run_options, ages)},
               {run_rows, 0}},
    .operands = OPTS_COMMAND,
};

/* 0, or an enum flame_exit after a line. */
static int show(const struct recording *r, const struct run_options *o)
{
    struct strbuf folded = STRBUF_INIT;
    struct run_summary s;
    bool empty;
    int status = 0;

    if (o->kind != RUN_OUTPUT_TRACE && !recording_wants_all(o))
        status = recording_fold(r, o, true, recording_wants_lines(o), &folded);
    if (!status)
        status = recording_write(r, o, &folded, &empty);
    strbuf_release(&folded);
    if (status || o->quiet)
        return status;
    run_summary_make(&s, r);
    run_summary_print(&s, r);
    tell_result(r, o, (const char *const[]){"alloc", "peak"}, empty);
    return 0;
}

static int print_shim(void)
{
    char *shim;
    int status = launch_find_shim(&shim);

    if (!status)
        puts(shim);
    free(shim);
    return status;
}

int mem_main(int argc, char **argv)
{
    char *snapshots = NULL;
    struct run_options o = {.me = "mem", .records_memory = true, .view = "alloc", .follow = true};
    int status = run_options_parse(&mem_command, &o, argc, argv);

    if (status >= 0 || o.only_shim) {
        run_options_release(&o);
        return status >= 0 ? status : print_shim();
    }
    status = run_options_look(&o);
    if (!status)
        status = run_options_snapshots(&o, &snapshots);
    if (!status)
        status = recording_run(&o, record_mem, show);
    free(snapshots);
    run_options_release(&o);
    return status;
}
