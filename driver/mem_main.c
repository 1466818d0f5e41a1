#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#include "common/commands.h"
#include "common/error.h"
#include "common/options/values.h"
#include "driver/run/record_attach.h"
#include "driver/run/kept_coverage.h"
#include "driver/run/record_mem.h"
#include "driver/run/runsummary.h"
#include "driver/run/result_line.h"
#include "fold/viewtable.h"

#define AT(member) offsetof(struct run_options, member)

#define SECOND_NS 1000000000

/* By its address it is known to be the default. */
static const char default_view[] = "alloc";

static const struct opts_row rows[] = {
    {"attach", 'p', "PID", "record this process, which runs already, from now on",
     .take = opts_take_pid, .at = AT(attach)},
    {"duration", 'd', "TIME", "with -p: leave the process after so many seconds",
     .take = opts_take_time, .at = AT(attach_ns), .least = 1, .which = SECOND_NS},
    {"output", 'o', "FILE",
     "the result; its ending picks .svg, .html (a page with all views), .png, .folded, .flame "
     "(the trace), or an export like .pb.gz (see flame render --help) (default: COMMAND-mem.svg "
     "or pid-PID-mem.svg in the present directory)",
     .take = opts_take_text, .at = AT(output)},
    {"view", .arg = "VIEW", .help = "what is counted", .take = opts_take_choice, .at = AT(view),
     .add_words = view_words_mem, .add_help = view_help_mem},
    {"kept",
     .help = "find out who keeps the blocks that are live when a process ends, or with -p when the "
             "recording ends, whenever they were allocated; --view kept shows it, which is the "
             "default then",
     .take = opts_take_true, .at = AT(kept)},
    {"libc-mappings",
     .help = "count what malloc and the C library map themselves, too, for --view mmap and "
             "unmapped: their calls are patched in the program's memory",
     .take = opts_take_true, .at = AT(libc_mappings)},
    {"inside", .help = "the old name of --libc-mappings", .take = opts_take_true,
     .at = AT(libc_mappings)},
    {"shim", .help = "print where libflamemem.so is, and nothing else", .take = opts_take_true,
     .at = AT(only_shim)},
    {0},
};

const struct opts_command mem_command = {
    .name = "mem",
    .summary = "run a command, record its memory, draw it",
    .usage = "[OPTION...] [--] COMMAND [ARGUMENT...]\n"
             "[OPTION...] -p PID [-d TIME]",
    .about = "Runs COMMAND with libflamemem.so, which records what every stack allocates and\n"
             "frees, and draws it. Output, signals and exit status of COMMAND are its own. Or\n"
             "records a running process from now on, until -d, Ctrl-C or its end.",
    .tables = {{rows, 0},
               {run_rows_of_roots, 0},
               {run_rows_of_memory, 0},
               {age_rows, offsetof(struct run_options, ages)},
               {run_rows, 0}},
    .operands = OPTS_COMMAND,
};

/* Writes the result. *folded gets the text that it shows; *empty: there was nothing to draw. 0,
 * or an enum flame_exit after a line. */
static int write_result(const struct recording *r, const struct run_options *o,
                        struct strbuf *folded, bool *empty)
{
    int status = recording_text(r, o, folded);

    return status ? status : recording_put(r, o, folded, empty);
}

/* Prints the summary of a command, or of a process that was attached to. */
static void print(const struct recording *r, const struct run_options *o,
                  const struct strbuf *folded, bool empty)
{
    struct run_options hinted = *o;
    struct run_summary s;

    if (o->attach) {
        record_attach_print(r, o);
    } else {
        run_summary_make(&s, r);
        run_summary_print(&s, r);
    }
    if (o->kept)
        kept_coverage_print(r);
    recording_print_findings(r, o, folded, NULL);
    if (o->attach && !record_attach_has(o->view))
        hinted.view = "alloc";
    print_result_line(r, &hinted, (const char *const[]){"alloc", "peak"}, empty);
}

/* 0, or an enum flame_exit after a line. */
static int show(const struct recording *r, const struct run_options *o)
{
    struct strbuf folded = STRBUF_INIT;
    bool empty;
    int status;

    if (o->attach && record_attach_lacks(o)) {
        if (!o->quiet)
            record_attach_print(r, o);
        return FLAME_FAILED;
    }
    status = write_result(r, o, &folded, &empty);

    if (!status && !o->quiet)
        print(r, o, &folded, empty);
    if (!status)
        print_browser_line(o, empty);
    strbuf_release(&folded);
    return status;
}

/* Attaches to a running process. `rest`: the arguments after the options. */
static int attach(struct run_options *o, char **rest)
{
    char subject[32];
    int status;

    if (*rest)
        return flame_error(FLAME_USAGE, "mem: -p and a command, '%s'; record one or the other",
                           *rest);
    snprintf(subject, sizeof subject, "pid-%u", o->attach);
    o->subject = subject;
    status = run_options_finish(o);
    if (status < 0)
        status = record_attach_check(o);
    return status ? status : recording_run(o, record_attach, show);
}

/* -1: record the command; else an exit status after a line. */
static int settle(struct run_options *o, char **rest)
{
    int status;

    if (o->attach_ns)
        return flame_error(FLAME_USAGE,
                           "mem: -d is for a process that runs already; name it with -p");
    status = run_options_command(o, rest);
    return status ? status : run_options_finish(o);
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
    struct run_options o = {
        .me = "mem", .records_memory = true, .view = default_view, .follow = true};
    int first, status = opts_parse(&mem_command, &o, argc, argv, &first);

    if (o.kept && o.view == default_view)
        o.view = "kept";
    if (status < 0 && !o.only_shim && o.attach) {
        status = attach(&o, argv + first);
        run_options_release(&o);
        return status;
    }
    if (status < 0 && !o.only_shim)
        status = settle(&o, argv + first);
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
