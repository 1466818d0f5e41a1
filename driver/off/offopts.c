#include "driver/off/offopts.h"

#include <ctype.h>
#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "common/alloc.h"
#include "common/error.h"
#include "common/processor/processor.h"
#include "common/strbuf.h"
#include "fold/filter_report.h"
#include "fold/viewtable.h"
#include "tracer/nostop/nostop.h"

#define CHAIN_MAX 32 /* OFF_CHAIN_MAX of the tracer's */
#define CHAIN_DEFAULT 8
#define DEPTH_DEFAULT 1024
#define HZ_MAX 1000
#define HZ_DEFAULT 99
#define HZ_NOT_GIVEN UINT32_MAX
#define SECOND_NS 1000000000
#define US_NS 1000
#define NO_STOPS_MIN_BLOCK_NS 2000000u
#define MIN_BLOCK_NOT_GIVEN UINT64_MAX
#define LANES_NOT_GIVEN UINT64_MAX
#define LANES_DEFAULT ((uint64_t)64 << 20)
#define LANES_LEAST ((uint64_t)256 << 10)
#define DISK_LEAST ((uint64_t)1 << 20)

/* "12,34"; a second -p adds to it. */
static int take_pids(void *at, const struct opts_row *row, const struct opts_given *given)
{
    struct off_options *o = at;
    const char *s = given->value;

    (void)row;

    for (char *end;; s = end + 1) {
        long pid;

        errno = 0;
        pid = strtol(s, &end, 10);
        if (!isdigit((unsigned char)*s) || (*end && *end != ',') || pid < 1 || pid > INT32_MAX ||
            errno)
            return opts_wrong_pid(given, true);
        o->pids = xreallocarray(o->pids, o->tracer.npids + 1, sizeof *o->pids);
        o->pids[o->tracer.npids++] = (pid_t)pid;
        if (!*end)
            return 0;
    }
}

static int take_exclude(void *at, const struct opts_row *row, const struct opts_given *given)
{
    struct excludes *e = excludes_new(&given->value, 1);

    if (!e)
        return FLAME_USAGE;
    excludes_free(e);
    return opts_take_list(at, row, given);
}

#define AT(member) offsetof(struct off_options, member)

/* enum off_in_process: row->which of them. */
static int take_in_process(void *at, const struct opts_row *row, const struct opts_given *given)
{
    enum off_in_process *inside = at;

    (void)given;
    *inside = (enum off_in_process)row->which;
    return 0;
}

/* "16m", or "off". */
static int take_lanes(void *at, const struct opts_row *row, const struct opts_given *given)
{
    uint64_t *bytes = at;

    (void)row;
    *bytes = 0;
    if (strcmp(given->value, "off") == 0)
        return 0;
    if (!opts_parse_bytes(given->value, bytes) || *bytes < LANES_LEAST)
        return opts_wrong_value(given, "a size of 256k or more, such as 16m, or off");
    return 0;
}

const struct opts_row off_rows_of_waiting[] = {
    {"hz", .arg = "N",
     .help =
         "look at running threads N times a second, for views of time on a CPU (default: 0, or 99 "
         "for these)",
     .take = opts_take_uint, .at = AT(tracer.hz), .most = HZ_MAX},
    {"min-block", .arg = "TIME", .help = "leave out shorter sleeps (us, ms, s; default: 0)",
     .take = opts_take_time, .at = AT(tracer.min_block_ns), .which = US_NS},
    {"max-block", .arg = "TIME", .help = "leave out longer ones", .take = opts_take_time,
     .at = AT(tracer.max_block_ns), .least = 1, .which = US_NS},
    {"chain-depth", .arg = "N", .help = "wakers kept of a chain, 1 to 32 (default: 8)",
     .take = opts_take_uint, .at = AT(tracer.chain_depth), .least = 1, .most = CHAIN_MAX},
    {"idle", .help = "leave out sleeps of threads that only wait for work", .take = opts_take_true,
     .at = AT(fold.idle)},
    {"objects", .help = "keep the numbers in the names of what is waited for",
     .take = opts_take_true, .at = AT(tracer.objects)},
    {"kernel", .help = "the kernel's frames too, where permitted", .take = opts_take_true,
     .at = AT(tracer.kernel)},
    {"lanes", .arg = "SIZE|off",
     .help = "room for when each wait was, for chains and the lanes of a page; what is over it is "
             "summed up (default: 64m)",
     .take = take_lanes, .at = AT(tracer.lanes)},
    {"no-filter",
     .help = "stop at every system call: slower, but set-user-id programs gain their privileges, "
             "and flame off -d can leave COMMAND running",
     .take = opts_take_true, .at = AT(tracer.no_filter)},
    {"in-process",
     .help = "record waits in COMMAND itself where that is possible, instead of stopping it for "
             "each: costs less (default)",
     .take = take_in_process, .at = AT(asked_in_process), .which = OFF_IN_PROCESS_YES},
    {"no-in-process", .help = "stop COMMAND for each call that waits", .take = take_in_process,
     .at = AT(asked_in_process), .which = OFF_IN_PROCESS_NO},
    {"inside", .help = "the old name of --in-process", .take = take_in_process,
     .at = AT(asked_in_process), .which = OFF_IN_PROCESS_YES},
    {"no-inside", .help = "the old name of --no-in-process", .take = take_in_process,
     .at = AT(asked_in_process), .which = OFF_IN_PROCESS_NO},
    {0},
};

static int take_disk(void *at, const struct opts_row *row, const struct opts_given *given)
{
    uint64_t bytes;

    (void)row;
    if (!opts_parse_bytes(given->value, &bytes) || (bytes && bytes < DISK_LEAST))
        return opts_wrong_value(given, "a size of 1m or more, such as 1g, or 0 for any");
    *(uint64_t *)at = bytes;
    return 0;
}

static const struct opts_row rows[] = {
    {"attach", 'p', "PID,...", "all threads of these processes", .take = take_pids, .at = 0},
    {"duration", 'd', "TIME", "stop tracing after so many seconds", .take = opts_take_time,
     .at = AT(tracer.duration_ns), .least = 1, .which = SECOND_NS},
    {"no-stops",
     .help = "with -p: stop no thread; look at those that sleep for 2 ms, or --min-block, "
             "and longer (new)",
     .take = opts_take_true, .at = AT(tracer.no_stops)},
    {"max-disk", .arg = "BYTES",
     .help = "take no more of the disk for the trace (1g, say): of what is new then there are no "
             "stacks, and how much that was is said",
     .take = take_disk, .at = AT(tracer.max_disk)},
    {"output", 'o', "FILE",
     "the result; its ending picks .svg, .html (a page with all views), .png, .folded, .flame "
     "(the trace), or an export like .pb.gz (see flame render --help) (default: COMMAND-off.svg "
     "or pid-PID-off.svg)",
     .take = opts_take_text, .at = AT(run.output)},
    {"view", .arg = "VIEW", .help = "what is counted", .take = opts_take_choice, .at = AT(run.view),
     .add_words = view_words_off, .add_help = view_help_off},
    {"comm", .arg = "NAME", .help = "only threads called NAME; several: any of these",
     .take = opts_take_list, .at = AT(comms)},
    {"region", .arg = "NAME",
     .help = "only the time in which that region was open, which COMMAND marks (flamemem(3))",
     .take = opts_take_text, .at = AT(when.region)},
    {"last", .arg = "TIME",
     .help =
         "only the last TIME (10s, say) of the recording; of earlier waits no times are kept, so "
         "it may run for days",
     .take = opts_take_time, .at = AT(tracer.last_ns), .least = 1, .which = SECOND_NS},
    {"freeze-when", .arg = "REGEX>TIME",
     .help =
         "with --last: that part ends with the first sleep of TIME or longer that has a function "
         "or call which matches; recording processes with -p ends then",
     .take = freeze_when_take, .at = AT(freeze)},
    {"exclude", .arg = "REGEX", .help = "no stacks with a frame that matches", .take = take_exclude,
     .at = AT(excludes)},
    {"pid", .help = "the root frame is COMM-PID", .take = opts_take_true, .at = AT(run.pid)},
    {"tid", .help = "a frame for each thread under the root", .take = opts_take_true,
     .at = AT(run.tid)},
    {0},
};

const struct opts_command off_command = {
    .name = "off",
    .summary = "trace where threads wait, and for whom, and draw it",
    .usage = "[OPTION...] [--] COMMAND [ARGUMENT...]\n"
             "[OPTION...] -p PID[,PID...]",
    .about = "Traces where threads wait, for how long and for whom, and draws it: COMMAND from\n"
             "its start to its end, or running processes until -d or Ctrl-C. Needs no\n"
             "privilege.",
    .tables = {{rows, 0}, {off_rows_of_waiting, 0}, {run_rows, AT(run)}},
    .operands = OPTS_COMMAND,
};

/* Rejects options that need a stop, or a command, together with --no-stops. */
static int settle_no_stops(const struct off_options *o)
{
    const char *me = o->run.me;

    if (o->run.command)
        return flame_error(FLAME_USAGE,
                           "%s: --no-stops is for processes that run: it needs -p, and no command",
                           me);
    if (o->tracer.hz)
        return flame_error(
            FLAME_USAGE,
            "%s: --no-stops cannot look at threads that run: leave out --hz and views "
            "of time on a CPU",
            me);
    if (o->tracer.min_block_ns < NOSTOP_LEAST_NS)
        return flame_error(
            FLAME_USAGE, "%s: --no-stops looks at sleeps of %u us and longer; --min-block is less",
            me, NOSTOP_LEAST_NS / 1000);
    return 0;
}

int off_options_settle(struct off_options *o)
{
    const char *me = o->run.me;
    bool possible = o->run.command && !o->tracer.no_filter && !o->tracer.duration_ns;

    if (o->asked_in_process == OFF_IN_PROCESS_YES && !PROCESSOR_LOGS_CALLS)
        return flame_error(FLAME_USAGE,
                           "%s: --in-process is for x86-64 only, and this is " PROCESSOR_NAME
                           "; without it all calls that wait stop (docs/ports.md)",
                           me);
    if (o->asked_in_process == OFF_IN_PROCESS_YES && !possible)
        return flame_error(FLAME_USAGE, "%s: --in-process is for commands, without %s", me,
                           !o->run.command       ? "-p"
                           : o->tracer.no_filter ? "--no-filter"
                                                 : "-d");
    if (o->tracer.min_block_ns == MIN_BLOCK_NOT_GIVEN)
        o->tracer.min_block_ns = o->tracer.no_stops ? NO_STOPS_MIN_BLOCK_NS : 0;
    if (o->tracer.max_block_ns && o->tracer.max_block_ns < o->tracer.min_block_ns)
        return flame_error(FLAME_USAGE,
                           "%s: --max-block is less than --min-block; nothing would be left", me);
    o->in_process = possible && PROCESSOR_LOGS_CALLS &&
                    (o->asked_in_process == OFF_IN_PROCESS_YES ||
                     (o->asked_in_process == OFF_IN_PROCESS_NOT_SAID && OFF_IN_PROCESS_BY_DEFAULT));
    if (o->when.region && !o->in_process)
        return flame_error(
            FLAME_USAGE,
            "%s: --region: what a program marks is seen from inside of a command only: "
            "on x86-64, and not with -p, -d, --no-filter or --no-in-process",
            me);
    if (o->tracer.last_ns && (o->when.region || o->tracer.lanes == 0))
        return flame_error(FLAME_USAGE, "%s: --last goes without %s; leave one of them out", me,
                           o->when.region ? "--region" : "--lanes off");
    if (o->tracer.last_ns && !view_find(o->run.view)->in_parts)
        return flame_error(FLAME_USAGE, "%s: --view %s is of whole sleeps; leave --last out", me,
                           o->run.view);
    if (o->freeze.regex && !o->tracer.last_ns)
        return flame_error(
            FLAME_USAGE,
            "%s: --freeze-when goes with --last TIME, the part of the recording that "
            "is kept then",
            me);
    o->fold.pid = o->run.pid;
    o->fold.tid = o->run.tid;
    o->tracer.argv = o->run.command;
    o->tracer.depth = o->run.depth ? o->run.depth : DEPTH_DEFAULT;
    o->tracer.no_follow = !o->run.follow;
    if (o->tracer.hz == HZ_NOT_GIVEN)
        o->tracer.hz = view_asks(view_find(o->run.view)) & VIEW_ASKS_CPU ? HZ_DEFAULT : 0;
    return o->tracer.no_stops ? settle_no_stops(o) : 0;
}

int off_options_check_lanes(const struct off_options *o)
{
    if (!o->run.needs_waits || o->tracer.lanes)
        return -1;
    return flame_error(FLAME_USAGE,
                       "%s: --lanes off leaves out when threads waited, and an output has nothing "
                       "else; leave one of them out",
                       o->run.me);
}

/* Rejects options that contradict each other, and sets defaults of the others. */
static int complete(struct off_options *o, char **rest)
{
    struct strbuf subject = STRBUF_INIT;
    int status;

    if (*rest && run_options_meant_pid(&o->run, *rest))
        return FLAME_USAGE;
    if (*rest && o->tracer.npids)
        return flame_error(FLAME_USAGE, "off: -p and a command, '%s'; trace one or the other",
                           *rest);
    if (!*rest && !o->tracer.npids)
        return flame_error(FLAME_USAGE, "off: no command to run and no -p; 'flame off --help' "
                                        "tells more");
    o->run.command = *rest ? rest : NULL;
    status = off_options_settle(o);
    if (status)
        return status;
    if (*rest)
        strbuf_addstr(&subject, *rest);
    else
        strbuf_addf(&subject, "pid-%d", (int)o->pids[0]);
    o->run.subject = o->subject = strbuf_detach(&subject, NULL);
    o->tracer.pids = o->pids;
    status = run_options_finish(&o->run);
    return status < 0 ? off_options_check_lanes(o) : status;
}

void off_options_init(struct off_options *o, const char *me, const char *view)
{
    *o = (struct off_options){.run = {.me = me, .traces_waits = true, .view = view, .follow = true},
                              .tracer = {.chain_depth = CHAIN_DEFAULT,
                                         .hz = HZ_NOT_GIVEN,
                                         .min_block_ns = MIN_BLOCK_NOT_GIVEN,
                                         .lanes = LANES_NOT_GIVEN}};
}

uint64_t off_options_lanes(const struct off_options *o)
{
    if (o->tracer.lanes != LANES_NOT_GIVEN)
        return o->tracer.lanes;
    /* The other half of the budget is for stacks. */
    return o->tracer.max_disk && o->tracer.max_disk / 2 < LANES_DEFAULT ? o->tracer.max_disk / 2
                                                                        : LANES_DEFAULT;
}

static const char default_view[] = "off";

int off_options_parse(struct off_options *o, int argc, char **argv)
{
    int first, status;

    off_options_init(o, "off", default_view);
    status = opts_parse(&off_command, o, argc, argv, &first);
    o->run.view_is_default = o->run.view == default_view;
    o->fold.comms = o->comms.items;
    o->fold.ncomms = o->comms.n;
    o->fold.excludes = o->excludes.items;
    o->fold.nexcludes = o->excludes.n;
    return status >= 0 ? status : complete(o, argv + first);
}

void off_options_release(struct off_options *o)
{
    run_options_release(&o->run);
    opts_list_release(&o->comms);
    opts_list_release(&o->excludes);
    free(o->pids);
    freeze_when_release(&o->freeze);
    free(o->subject);
}
