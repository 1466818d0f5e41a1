#include <stdio.h>
#include <stdlib.h>

#include "common/commands.h"
#include "common/error.h"
#include "driver/recording.h"
#include "driver/runsummary.h"

static void help(void)
{
    fputs("usage: flame mem [OPTION...] [--] COMMAND [ARGUMENT...]\n"
          "\n"
          "Runs COMMAND with libflamemem.so, which records what every stack allocates and\n"
          "frees, and draws it. Output, signals and exit status of COMMAND are its own.\n"
          "\n"
          "  -o, --output FILE  the result; its ending picks .svg, .html (a page with all\n"
          "                     views), .png, .folded, .flame (the trace), or an export\n"
          "                     like .pb.gz (see flame render --help)\n"
          "                     (default: COMMAND-mem.svg in the present directory)\n"
          "      --view VIEW    alloc  bytes asked for (default)\n"
          "                     count  calls that asked for them\n"
          "                     live   bytes not freed at the end\n"
          "                     peak   bytes live when most were\n"
          "                     temp   calls freed before the thread's next allocation\n"
          "      --depth N      frames kept of a stack, 8 to 65536 (default: 1024)\n"
          "      --sample BYTES record one block in so many bytes (512k, say) and estimate;\n"
          "                     0, the default, records every block\n"
          "      --no-follow    leave the programs out that COMMAND starts\n"
          "  -q, --quiet        print no summary\n"
          "      --shim         print where libflamemem.so is, and nothing else\n"
          "      --help         this text\n",
          stdout);
}

static void tell_other_views(const struct run_options *o)
{
    flame_warn("other views: record with '-o x.flame', then 'flame render --view %s -o x.svg "
               "x.flame' and so on",
               strcmp(o->view, "peak") == 0 ? "live" : "peak");
}

static void tell_result(const struct recording *r, const struct run_options *o, bool empty)
{
    size_t n = r->session.ntraces;
    char *last;

    switch (o->kind) {
    case RUN_OUTPUT_TRACE:
        if (n > 1) {
            last = recording_trace_name(o->output, n - 1);
            flame_warn(
                "%zu programs, a trace each: %s to %s; 'flame fold' takes one or all of them", n,
                o->output, last);
            free(last);
        } else {
            flame_warn("the trace is in %s; see it with 'flame render --view alloc -o x.svg %s'",
                       o->output, o->output);
        }
        break;
    case RUN_OUTPUT_FOLDED:
        flame_warn("%s view, folded, in %s", o->view, o->output);
        tell_other_views(o);
        break;
    default:
        if (recording_wants_all(o)) {
            if (empty)
                flame_warn("all views are empty: no page was made");
            else
                flame_warn("all views in %s", o->output);
            break;
        }
        if (empty)
            flame_warn("the %s view is empty: no picture was made", o->view);
        else
            flame_warn("%s view in %s", o->view, o->output);
        tell_other_views(o);
    }
}

/* 0, or an enum flame_exit after a line. */
static int show(const struct recording *r, const struct run_options *o)
{
    struct strbuf folded = STRBUF_INIT;
    struct run_summary s;
    bool empty;
    int status = 0;

    if (o->kind != RUN_OUTPUT_TRACE && !recording_wants_all(o))
        status = recording_fold(r, o, true, &folded);
    if (!status)
        status = recording_write(r, o, &folded, &empty);
    strbuf_release(&folded);
    if (status || o->quiet)
        return status;
    run_summary_make(&s, r);
    run_summary_print(&s, r);
    tell_result(r, o, empty);
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
    struct run_options o = {.me = "mem", .view = "alloc", .follow = true};
    int status = run_options_parse(&o, argc, argv, help);

    if (status >= 0 || o.only_shim) {
        run_options_release(&o);
        return status >= 0 ? status : print_shim();
    }
    status = recording_run(&o, record_mem, show);
    run_options_release(&o);
    return status;
}
