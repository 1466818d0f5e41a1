#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/commands.h"
#include "common/error.h"
#include "common/options/values.h"
#include "driver/run/recording.h"
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
    RUN_ROW_DEPTH(AT(depth)),
    {"sample", .arg = "BYTES",
     .help = "record one block in so many bytes (512k, say) and estimate; 0, the default, records "
             "every block",
     .take = opts_take_bytes, .at = AT(sample), .most = RUN_SAMPLE_MAX},
    {"max-disk", .arg = "BYTES",
     .help = "end the recording when its files take more than so much (1g, say); the command "
             "runs on",
     .take = opts_take_bytes, .at = AT(max_disk)},
    {"inside",
     .help = "count what malloc and the C library map inside themselves, too, for --view mmap and "
             "unmapped: their calls are patched in the program's memory",
     .take = opts_take_true, .at = AT(inside)},
    {"snapshots", .arg = "DIR",
     .help = "keep the snapshots there that COMMAND asks for (flamemem(3))", .take = opts_take_text,
     .at = AT(snapshots)},
    {"no-follow", .help = "leave the programs out that COMMAND starts", .take = opts_take_false,
     .at = AT(follow)},
    RUN_ROW_QUIET(AT(quiet)),
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
    .tables = {{rows, 0}},
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

/* The directory, as any process finds it, which the caller frees. 0, or FLAME_USAGE after a line.
 */
static int find_snapshots(struct run_options *o, char **path)
{
    struct stat st;

    *path = NULL;
    if (!o->snapshots)
        return 0;
    if (stat(o->snapshots, &st) == 0 && !S_ISDIR(st.st_mode))
        errno = ENOTDIR;
    else if (access(o->snapshots, W_OK | X_OK) == 0)
        *path = realpath(o->snapshots, NULL);
    if (!*path)
        return flame_error(FLAME_USAGE, "mem: --snapshots %s: %s; name a directory to write to",
                           o->snapshots, strerror(errno));
    if (strchr(*path, ':')) {
        free(*path);
        *path = NULL;
        return flame_error(FLAME_USAGE, "mem: --snapshots %s: its path has a colon; name another",
                           o->snapshots);
    }
    o->snapshots = *path;
    return 0;
}

int mem_main(int argc, char **argv)
{
    char *snapshots;
    struct run_options o = {.me = "mem", .view = "alloc", .follow = true};
    int status = run_options_parse(&mem_command, &o, argc, argv);

    if (status >= 0 || o.only_shim) {
        run_options_release(&o);
        return status >= 0 ? status : print_shim();
    }
    o.look = view_find(o.view)->feature & (TRACE_FEATURE_LEAKS | TRACE_FEATURE_REGIONS);
    if (o.look && o.sample) {
        run_options_release(&o);
        return flame_error(FLAME_USAGE, "mem: --view %s looks at every block; leave --sample out",
                           o.view);
    }
    status = find_snapshots(&o, &snapshots);
    if (!status)
        status = recording_run(&o, record_mem, show);
    free(snapshots);
    run_options_release(&o);
    return status;
}
