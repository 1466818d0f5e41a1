#include "driver/run/runopts.h"

#include <ctype.h>
#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/basename.h"
#include "common/error.h"
#include "common/options/values.h"
#include "common/files/outfile.h"
#include "driver/monitor/growthsignal.h"
#include "fold/lanetext.h"
#include "fold/viewtable.h"
#include "render/backend.h"

#define AT(member) offsetof(struct run_options, member)

static bool ends_with(const char *s, const char *ending)
{
    size_t len = strlen(s), n = strlen(ending);

    return len > n && strcmp(s + len - n, ending) == 0;
}

static int take_moments(void *at, const struct opts_row *row, const struct opts_given *given)
{
    struct run_options *o = at;
    int sig = given->value ? growthsignal_parse(given->value) : 0;

    (void)row;
    o->moments = true;
    o->pace = (struct moment_pace){.on_signal = sig};
    return sig || moment_pace_parse(given->value, &o->pace)
               ? 0
               : opts_wrong_value(given, MOMENT_PACE_WANTED ", or USR1 or USR2");
}

const struct opts_row run_rows[] = {
    RUN_ROW_DEPTH(AT(depth)),
    {"no-follow", .help = "leave the programs and processes out that COMMAND starts",
     .take = opts_take_false, .at = AT(follow)},
    RUN_ROW_NO_NAMES(AT(no_names)),
    {"no-python",
     .help = "leave the functions of CPython (3.11 to 3.15) out of stacks; otherwise they "
             "are between the native frames that run them",
     .take = opts_take_true, .at = AT(no_python)},
    {"jit-names",
     .help = "have Node.js, Java, .NET and Python write the names of functions that they compile "
             "(by variables of COMMAND's environment; with -p Java alone, by jcmd at the end)",
     .take = opts_take_true, .at = AT(jit_names)},
    RUN_ROW_OPEN(AT(open)),
    RUN_ROW_QUIET(AT(quiet)),
    {0},
};

const struct opts_row run_rows_of_memory[] = {
    {"sample", .arg = "BYTES",
     .help = "record one block in so many bytes (512k, say) and estimate; 0, the default, records "
             "every block",
     .take = opts_take_bytes, .at = AT(sample), .most = RUN_SAMPLE_MAX},
    {"max-disk", .arg = "BYTES",
     .help = "end the recording of memory when its files take more than so much (1g, say); the "
             "command runs on",
     .take = opts_take_bytes, .at = AT(max_disk)},
    {"rss",
     .help =
         "when a process ends, when it asks for a snapshot and at the end of -p, look whose its "
         "resident memory is, for --view rss, swap and slack (which imply it)",
     .take = opts_take_true, .at = AT(rss)},
    {"no-patch",
     .help = "leave the program's own code as it is, and an allocator in the program's file unseen",
     .take = opts_take_true, .at = AT(no_patch)},
    {"python", .help = "the default, for compatibility", .take = opts_take_true, .at = AT(python)},
    {"lifetimes", .arg = "CLOCK",
     .help =
         "note how large blocks are, and how long they live, for --view sizes, lifetimes, short "
         "and old (which imply it): by time, or by the bytes that are allocated meanwhile",
     .take = opts_take_choice, .at = AT(lifetimes), .words = "time bytes"},
    {"moments", .arg = "[TIME|BYTES|SIGNAL]",
     .help = "keep what is live at moments of the run, for --at and --from of flame fold, render, "
             "top and diff: every TIME (500ms, 10s), whenever a process has grown or shrunk by "
             "BYTES (64m), or when flame is sent a SIGNAL (USR1, USR2), which the program does not "
             "get; by itself, often at first and then every second",
     .take = take_moments, .at = 0},
    {"snapshots", .arg = "DIR",
     .help = "keep the snapshots there that COMMAND asks for (flamemem(3))", .take = opts_take_text,
     .at = AT(snapshots)},
    {0},
};

const struct opts_row run_rows_of_roots[] = {
    {"pid", .help = "the root frame is COMM-PID", .take = opts_take_true, .at = AT(pid)},
    {"tid", .help = "a frame for each thread under the root", .take = opts_take_true,
     .at = AT(tid)},
    {"ancestors", .help = "of memory: a frame for each process it descends from under the root",
     .take = opts_take_true, .at = AT(ancestors)},
    {0},
};

/* Sets the default output: NAME-mem.svg, or NAME-run.html, for a command called NAME, without
 * characters that need quoting in a file name. With --open it is a page. Leaks of any command go to
 * leak.svg. */
static void default_output(struct run_options *o)
{
    bool page = o->open || (o->records_memory && o->traces_waits);
    struct strbuf name = STRBUF_INIT;

    if (strcmp(o->me, "leak") != 0)
        strbuf_addf(&name, "%s-", base_name(o->subject));
    for (size_t i = 0; i < name.len; i++)
        if (iscntrl((unsigned char)name.buf[i]) || (i == 0 && name.buf[i] == '-'))
            name.buf[i] = '_';
    strbuf_addf(&name, "%s.%s", o->me, page ? "html" : "svg");
    o->owned_output = strbuf_detach(&name, NULL);
    o->output = o->owned_output;
}

static int wrong_ending(const struct run_options *o)
{
    struct strbuf endings = STRBUF_INIT;

    backend_add_endings(&endings);
    flame_error(FLAME_USAGE, "%s: -o %s: its suffix names no format; end it in .flame, %s", o->me,
                o->output, endings.buf);
    strbuf_release(&endings);
    return FLAME_USAGE;
}

static bool is_directory(const char *path)
{
    struct stat st;

    return ends_with(path, "/") || strcmp(path, "/") == 0 ||
           (stat(path, &st) == 0 && S_ISDIR(st.st_mode));
}

/* Finds the kind of output from the file's ending, and whether the file can be created. */
static int check_output(struct run_options *o)
{
    struct outfile probe;
    struct stat st;
    int err;

    if (o->directories && is_directory(o->output)) {
        o->kind = RUN_OUTPUT_DIRECTORY;
        return 0;
    }
    if (ends_with(o->output, ".folded"))
        o->kind = RUN_OUTPUT_FOLDED;
    else if (ends_with(o->output, ".flame"))
        o->kind = RUN_OUTPUT_TRACE;
    else if (backend_for_file(o->output))
        o->kind = RUN_OUTPUT_PICTURE;
    else
        return wrong_ending(o);
    if (stat(o->output, &st) == 0) {
        if (S_ISDIR(st.st_mode))
            return flame_cannot_write(o->output, -EISDIR);
    }
    /* Opening a pipe would wait for its reader. */
    err = outfile_check_special(o->output);
    if (err)
        return err < 0 ? flame_cannot_write(o->output, err) : 0;
    err = outfile_open(&probe, o->output);
    if (err)
        return flame_cannot_write(o->output, err);
    outfile_abort(&probe);
    return 0;
}

bool run_options_meant_pid(const struct run_options *o, const char *command)
{
    bool attaches = strcmp(o->me, "leak") != 0;

    if (!o->pid || !*command || command[strspn(command, "0123456789")])
        return false;
    flame_error(FLAME_USAGE, "%s: --pid %s: --pid puts process ids into names; to attach say %s%s",
                o->me, command, attaches ? "-p " : "'flame mem -p PID' or 'flame off -p PID'",
                attaches ? command : "");
    return true;
}

int run_options_command(struct run_options *o, char **rest)
{
    if (!*rest)
        return flame_error(FLAME_USAGE, "%s: no command to run; see 'flame %s --help'", o->me,
                           o->me);
    if (run_options_meant_pid(o, rest[0]))
        return FLAME_USAGE;
    o->command = rest;
    o->subject = rest[0];
    return 0;
}

int run_options_parse(const struct opts_command *c, struct run_options *o, int argc, char **argv)
{
    int first, status = opts_parse(c, o, argc, argv, &first);

    if (status >= 0 || o->only_shim)
        return status;
    status = run_options_command(o, argv + first);
    return status ? status : run_options_finish(o);
}

bool run_options_is_browsed(const struct run_options *o)
{
    return o->kind == RUN_OUTPUT_DIRECTORY ||
           (o->kind == RUN_OUTPUT_PICTURE && backend_for_file(o->output)->is_browsed);
}

int run_options_not_browsed(const struct run_options *o)
{
    return flame_error(FLAME_USAGE,
                       "%s: --open: a browser does not show %s; end it in .html, .svg or .png",
                       o->me, o->output);
}

int run_options_finish(struct run_options *o)
{
    const struct render_backend *b;
    bool page;
    int status;

    if (!o->output)
        default_output(o);
    status = check_output(o);
    if (!status && o->open && !run_options_is_browsed(o))
        status = run_options_not_browsed(o);
    if (status)
        return status;
    b = o->kind == RUN_OUTPUT_PICTURE ? backend_for_file(o->output) : NULL;
    if (b && b->needs_waits && !o->traces_waits)
        return flame_error(FLAME_USAGE,
                           "%s: -o %s: %s is of waits in time order; record them with 'flame off' "
                           "or 'flame run'",
                           o->me, o->output, b->name);
    page = b && b->explores;
    o->shows_moments |= page || o->kind == RUN_OUTPUT_TRACE;
    o->shows_waits |= page || (b && b->waits) || o->kind == RUN_OUTPUT_TRACE;
    o->needs_waits |= b && b->needs_waits;
    if (b && b->waits)
        o->lane_bytes = LANETEXT_EXPORT_BYTES;
    if (page && o->records_memory) /* it has a chart of moments */
        o->moments = true;
    return -1;
}

/* Chooses the clock of lifetimes, if they are recorded, and checks that the limits suit it. */
static int choose_clock(struct run_options *o, uint32_t asks)
{
    bool wanted = asks & VIEW_ASKS_LIFETIMES || o->lifetimes;
    bool time = o->ages.young.time || o->ages.old.time;
    bool bytes = o->ages.young.bytes || o->ages.old.bytes;

    if ((time || bytes) && !wanted)
        return flame_error(FLAME_USAGE,
                           "%s: --short and --old go with --lifetimes, --view short or --view old",
                           o->me);
    if (wanted && !o->lifetimes)
        o->lifetimes = bytes && !time ? "bytes" : "time";
    if (wanted && (strcmp(o->lifetimes, "bytes") == 0 ? time : bytes))
        return flame_error(FLAME_USAGE,
                           "%s: lifetimes are recorded by %s; give --short and --old as %s", o->me,
                           time ? "allocated bytes (--lifetimes bytes)" : "time",
                           time ? "bytes (64k, say)" : "times (1ms, say)");
    return 0;
}

int run_options_look(struct run_options *o)
{
    uint32_t asks = view_asks(view_find(o->view));
    bool is_by_view = asks & VIEW_ASKS_EVERY_BLOCK;

    o->look = asks & VIEW_ASKS_SCAN;
    o->rss |= (asks & VIEW_ASKS_RESIDENT) != 0;
    o->kept |= (asks & VIEW_ASKS_KEEPERS) != 0;
    o->faults = asks & VIEW_ASKS_FAULTS;
    o->touched = asks & VIEW_ASKS_TOUCHED;
    if (o->faults && o->traces_waits)
        return flame_error(FLAME_USAGE,
                           "%s: --view fault: page faults are not recorded together with waiting; "
                           "take flame mem --view fault",
                           o->me);
    if ((is_by_view || o->rss || o->kept) && o->sample)
        return flame_error(FLAME_USAGE, "%s: %s%s needs every block; leave --sample out", o->me,
                           is_by_view ? "--view "
                           : o->rss   ? "--rss"
                                      : "--kept",
                           is_by_view ? o->view : "");
    return choose_clock(o, asks);
}

int run_options_snapshots(struct run_options *o, char **path)
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
        return flame_error(FLAME_USAGE, "%s: --snapshots %s: %s; name a directory to write to",
                           o->me, o->snapshots, strerror(errno));
    if (strchr(*path, ':')) {
        free(*path);
        *path = NULL;
        return flame_error(FLAME_USAGE, "%s: --snapshots %s: its path has a colon; name another",
                           o->me, o->snapshots);
    }
    o->snapshots = *path;
    return 0;
}

void run_options_release(struct run_options *o)
{
    free(o->owned_output);
    o->owned_output = NULL;
    opts_list_release(&o->hide.suppressions);
}
