#include <ctype.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>

#include "common/basename.h"
#include "common/clock.h"
#include "common/commands.h"
#include "common/error.h"
#include "common/options/values.h"
#include "common/strbuf.h"
#include "common/trace/mark_growth.h"
#include "driver/leak/leak_text.h"
#include "driver/leak/leak_coverage.h"
#include "driver/leak/leakkeepers.h"
#include "driver/leak/leakoutput.h"
#include "driver/leak/leaktarget.h"
#include "driver/leak/leakunchecked.h"
#include "driver/leak/misuselines.h"
#include "driver/leak/regionreport.h"
#include "driver/run/record_mem.h"
#include "driver/run/runsummary.h"
#include "driver/run/unhooked_memory.h"
#include "driver/monitor/growthsignal.h"
#include "render/text/value.h"

#define LEAKS_SHOWN 10
#define MISUSES_SHOWN 10
#define SECOND ((uint64_t)1000000000)

#define AT(member) offsetof(struct leak_options, run.member)
#define TO(format) offsetof(struct leak_options, to[format])

/* A pass ends where the program marks it, after a fixed time, or when flame receives a signal. */
static int take_growth(void *at, const struct opts_row *row, const struct opts_given *given)
{
    struct run_options *o = at;

    o->growth = true;
    o->growth_ns = 0;
    o->growth_signal = given->value ? growthsignal_parse(given->value) : 0;
    if (!given->value || o->growth_signal)
        return 0;
    if (isdigit((unsigned char)*given->value) || *given->value == '.')
        return opts_take_time(&o->growth_ns, row, given);
    return opts_wrong_value(given, "a time such as 10, 1.5s or 500ms, or USR1 or USR2");
}

static const struct opts_row rows[] = {
    {"max-bytes", .arg = "N", .help = "allow N leaked bytes (k, m, g: powers of 1024; default: 0)",
     .take = opts_take_bytes, .at = AT(max_bytes)},
    {"max-blocks", .arg = "N", .help = "allow N leaked blocks (default: 0)",
     .take = opts_take_bytes, .at = AT(max_blocks)},
    {"exit-code", .arg = "N", .help = "the status when there are leaks, 1 to 125 (default: 23)",
     .take = opts_take_uint, .at = AT(leak_status), .least = 1, .most = 125},
    {"check", .arg = "KIND",
     .help = "look for more than leaks: misuse, of the allocator (freed twice, by the wrong "
             "function, never allocated)",
     .take = opts_take_choice, .at = offsetof(struct leak_options, check), .words = "misuse"},
    LEAK_FILTER_ROWS(AT(hide)),
    {"allow-unchecked",
     .help = "pass though a process that COMMAND started was not checked (default: the status is "
             "24, as it always is where COMMAND itself was not)",
     .take = opts_take_true, .at = offsetof(struct leak_options, allow_unchecked)},
    {"tagged-pointers",
     .help = "pointers whose lowest or highest bits are marked lead to blocks, too",
     .take = opts_take_true, .at = AT(tagged)},
    {"live", .help = "count all that is live at the end, whatever leads to it",
     .take = opts_take_true, .at = AT(live)},
    {"growth", .arg = "[TIME|SIGNAL]",
     .help = "count what grows from pass to pass, though something leads to it; the program marks "
             "its passes (flamemem.h), each takes TIME (500ms, 10s; default: seconds), or flame is "
             "sent a SIGNAL (USR1, USR2) after each, which the program does not get",
     .take = take_growth, .at = offsetof(struct leak_options, run), .least = 10e6,
     .which = (int)SECOND},
    {"output", 'o', "FILE",
     "the picture (default: leak.svg), or .folded, .flame, or an export: .pb.gz, .txt... (see "
     "flame render --help); or a directory, in which each run with leaks gets one of its own",
     .take = opts_take_text, .at = AT(output)},
    {"name", .arg = "NAME", .help = "what the test is called in results (default: COMMAND's name)",
     .take = opts_take_text, .at = offsetof(struct leak_options, name)},
    {NULL, .help = "Reports (FILE: a file, a directory, or - when COMMAND has ended):"},
    {"json", .arg = "FILE", .help = "all that is known, for programs (docs/leaks.md)",
     .take = opts_take_text, .at = TO(LEAK_JSON)},
    {"tap", .arg = "FILE", .help = "TAP 14", .take = opts_take_text, .at = TO(LEAK_TAP)},
    {"junit", .arg = "FILE", .help = "JUnit's XML", .take = opts_take_text, .at = TO(LEAK_JUNIT)},
    {"sarif", .arg = "FILE", .help = "SARIF 2.1.0", .take = opts_take_text, .at = TO(LEAK_SARIF)},
    {"github", .arg = "FILE", .help = "annotations as GitHub's runners read them",
     .take = opts_take_text, .at = TO(LEAK_GITHUB)},
    {"gitlab", .arg = "FILE", .help = "GitLab's Code Quality report", .take = opts_take_text,
     .at = TO(LEAK_GITLAB)},
    RUN_ROW_DEPTH(AT(depth)),
    RUN_ROW_NO_NAMES(offsetof(struct leak_options, run.no_names)),
    {"no-follow", .help = "leave the programs out that COMMAND starts", .take = opts_take_false,
     .at = AT(follow)},
    RUN_ROW_OPEN(AT(open)),
    {"quiet", 'q', NULL,
     "print nothing if there is nothing to report and every process was checked",
     .take = opts_take_true, .at = AT(quiet)},
    {0},
};

const struct opts_command leak_command = {
    .name = "leak",
    .summary = "run a command, fail when memory is leaked",
    .usage = "[OPTION...] [--] COMMAND [ARGUMENT...]",
    .about = "Runs COMMAND as 'flame mem' does and exits with 23 when it, or a process that it\n"
             "started, ends with blocks that no variable and no other block leads to. The\n"
             "largest are listed with their stacks, and leak.svg shows all. A COMMAND that\n"
             "fails keeps its own status; leaks are still reported.",
    .tables = {{rows, 0}, {run_rows_of_roots, offsetof(struct leak_options, run)}},
    .operands = OPTS_COMMAND,
    .no_attach = "flame leak checks a command from start to end; to record a running process, use "
                 "'flame mem -p PID --view leak'",
};

static void print_leaked(struct strbuf *sb, const struct leak_report *r)
{
    uint64_t bytes, blocks;

    leak_report_sum(r, LEAK_DEFINITE, &bytes, &blocks);
    value_add_blocks(sb, bytes, blocks);
    strbuf_addstr(sb, " leaked");
    leak_report_sum(r, LEAK_INDIRECT, &bytes, &blocks);
    if (!blocks)
        return;
    strbuf_addstr(sb, ", and ");
    value_add_blocks(sb, bytes, blocks);
    strbuf_addstr(sb, " that only those lead to");
}

static bool is_limited(const struct run_options *o)
{
    return o->max_bytes != RUN_NO_LIMIT || o->max_blocks != RUN_NO_LIMIT;
}

static void print(const struct leak_report *r, const struct run_options *o)
{
    struct strbuf sb = STRBUF_INIT;
    uint64_t bytes = leak_list_bytes(r->leaks, false), blocks = leak_list_blocks(r->leaks, false);

    if (o->look) {
        print_leaked(&sb, r);
    } else if (o->growth) {
        value_add_blocks(&sb, bytes, blocks);
        strbuf_addstr(&sb, " more with each pass");
    } else {
        value_add_both(&sb, (struct folded_count){.whole = bytes}, "bytes");
        strbuf_addstr(&sb, " live at the end in ");
        value_add_counted(&sb, blocks, "block", "blocks");
    }
    strbuf_addstr(&sb, ", ");
    leak_report_add_allowed(&sb, r);
    flame_warn("leak: %s%s", sb.buf, r->over && r->groups->n ? "; the largest:" : "");
    strbuf_release(&sb);
}

static enum leak_class asked_for(const struct run_options *o)
{
    return o->look ? LEAK_DEFINITE : o->growth ? LEAK_GROWTH : LEAK_LIVE;
}

/* Lists leaks by process and thread; live blocks only in sums over all processes. Before that,
 * suppressed leaks are removed from the traces. */
static int list_leaks(const struct recording *r, const struct run_options *o, struct leak_list *l)
{
    struct leak_filter_traces in = {.sums = r->traces, .nsums = r->ntraces};
    int status;

    in.each = tracesums_get(r->taken.leaks, &in.neach);
    status = leak_filter_apply(o->hides, &in);
    if (status)
        return status;
    if (asked_for(o) == LEAK_LIVE)
        return leak_list_make(l, in.sums, in.nsums, LEAK_LIVE);
    status = leak_list_make(l, in.each, in.neach, asked_for(o));
    if (!status && o->growth)
        status = leak_keepers_find(l, in.sums, in.nsums);
    return status;
}

/* The limits apply to regions' leftovers separately, since these blocks may be leaks at the end,
 * too. */
static bool is_over(const struct leak_list *leaks, const struct run_options *o, bool regions)
{
    uint64_t bytes = leak_list_bytes(leaks, regions), blocks = leak_list_blocks(leaks, regions);

    return is_limited(o) ? bytes > o->max_bytes || blocks > o->max_blocks : bytes || blocks;
}

/* ---- the report ---- */

static struct leak_report_process *list_processes(const struct leak_coverage *looks)
{
    size_t n = 0;
    struct leak_report_process *list = xcalloc(looks->nseen + looks->nunseen, sizeof *list);

    for (size_t i = 0; i < looks->nseen + looks->nunseen; i++) {
        bool looked = i < looks->nseen;
        const struct run_totals_process *p =
            looked ? looks->seen[i] : looks->unseen[i - looks->nseen];

        list[n++] = (struct leak_report_process){p->pid, p->comm, p->exe, looked};
    }
    return list;
}

static struct leak_report make_report(const struct recording *r, const struct leak_options *o)
{
    int wait_status = r->run.wait_status;

    return (struct leak_report){
        .name = o->name ? o->name : base_name(o->run.subject),
        .command = o->run.command,
        .started = (clock_ns(CLOCK_REALTIME) - r->run.elapsed_ns) / 1000000000u,
        .elapsed_ns = r->run.elapsed_ns,
        .status = launch_exit_status(wait_status),
        .signal = WIFSIGNALED(wait_status) ? WTERMSIG(wait_status) : 0,
        .look = o->run.look,
        .growth = o->run.growth,
        .max_bytes = o->run.max_bytes,
        .max_blocks = o->run.max_blocks,
    };
}

/* ---- the verdict ---- */

static bool is_misused(const struct leak_report *r)
{
    return r->misuses && r->misuses->n;
}

static void say(const struct recording *r, const struct leak_options *o,
                const struct leak_report *report, const struct leak_coverage *looks)
{
    bool finds = report->over || is_misused(report);

    run_summary_print_others(r);
    if (!finds && o->run.quiet) {
        if (o->run.look)
            leak_coverage_print_unseen(looks);
        return;
    }
    unhooked_memory_print(r);
    if (!o->run.live)
        leak_coverage_print(looks);
    leak_filter_print(o->run.hides);
    if (report->misuses)
        misuse_lines_print(report->misuses, MISUSES_SHOWN);
    print(report, &o->run);
    if (report->over)
        leak_text_print(report->groups, false, LEAKS_SHOWN);
}

/* Reports processes that were not checked. FLAME_UNCHECKED after a line. */
static int print_unchecked(const struct leak_report *r)
{
    if (r->command_checked)
        return flame_error(FLAME_UNCHECKED,
                           "leak: not all processes were checked: %s; --allow-unchecked lets that "
                           "pass",
                           r->unchecked);
    return flame_error(
        FLAME_UNCHECKED,
        "leak: the command itself was not checked: %s; nothing is known of its leaks",
        r->unchecked);
}

static int show(const struct recording *r, const struct leak_options *o, struct leak_report *report,
                const struct leak_coverage *looks)
{
    bool at_end = is_over(report->leaks, &o->run, false);
    struct strbuf others = STRBUF_INIT, doubts = STRBUF_INIT;
    struct leak_unchecked unchecked;
    struct leak_options shown = *o;
    struct leak_report_process *processes = list_processes(looks);
    int status = 0, reported;

    unrecorded_add(&others, &r->others, SIZE_MAX);
    report->processes = processes;
    report->nprocesses = looks->nseen + looks->nunseen;
    report->not_recorded = others.buf;
    leak_unchecked_find(&unchecked, &r->others, looks, o->run.look, r->run.pid);
    report->unchecked = unchecked.who.buf;
    report->command_checked = !unchecked.command;
    report->unchecked_fails = unchecked.command || (unchecked.others && !o->allow_unchecked);
    recording_add_doubts(&doubts, r);
    report->doubts = doubts.buf;
    report->over = at_end || is_over(report->leaks, &o->run, true);
    say(r, o, report, looks);
    if (!at_end && report->over)
        shown.run.view = "region";
    if (report->over)
        regions_print(report->leaks, report->groups);
    if (report->over || is_misused(report))
        status = leak_output_draw(r, &shown, report);
    reported = leak_output_reports(o, report);
    status = status ? status : reported;
    if (!status && leak_report_is_unchecked(report))
        status = print_unchecked(report);
    free(processes);
    strbuf_release(&others);
    strbuf_release(&doubts);
    leak_unchecked_release(&unchecked);
    return status;
}

static int not_compared(void)
{
    return flame_error(
        FLAME_USAGE,
        "leak: --growth: no process had %u marks of passes; set them with "
        "flamemem_mark, let it run for more than %u times a --growth=TIME, or send flame a "
        "--growth=SIGNAL after each",
        GROWTH_MARKS, GROWTH_MARKS);
}

/* 0, o->leak_status, or an enum flame_exit after a line. A leak that was found outweighs
 * processes that were not checked. */
static int judge(const struct recording *r, const struct run_options *run)
{
    const struct leak_options *o = (const struct leak_options *)run;
    struct leak_report report = make_report(r, o);
    struct leak_groups groups;
    struct leak_coverage looks;
    struct misuse_list misuses = {0};
    struct leak_list leaks;
    struct trace *const *traces;
    size_t ntraces;
    int status = list_leaks(r, run, &leaks);

    if (status)
        return status;
    if (run->misuse) {
        traces = tracesums_get(r->taken.leaks, &ntraces);
        status = misuse_list_make(&misuses, run->hides, traces, ntraces);
        report.misuses = &misuses;
    }
    if (status) {
        leak_list_release(&leaks);
        return status;
    }
    leak_groups_make(&groups, &leaks);
    leak_coverage_make(&looks, &r->taken, run->growth);
    report.leaks = &leaks;
    report.groups = &groups;
    if (run->growth && !looks.nseen)
        status = not_compared();
    else
        status = show(r, o, &report, &looks);
    leak_coverage_release(&looks);
    leak_groups_release(&groups);
    leak_list_release(&leaks);
    if ((!status || status == FLAME_UNCHECKED) && (report.over || is_misused(&report)))
        status = (int)o->run.leak_status;
    misuse_list_release(&misuses);
    return status;
}

/* -1, or FLAME_USAGE after a line. */
static int check_what(struct run_options *o)
{
    if (o->live && o->growth)
        return flame_error(FLAME_USAGE, "leak: --live and --growth are two questions; ask one");
    if ((o->growth_ns || o->growth_signal) && o->kind == RUN_OUTPUT_TRACE)
        return flame_error(FLAME_USAGE,
                           "leak: --growth=%s -o %s: what was seen while the command ran is in no "
                           "trace; name a picture or .folded",
                           o->growth_ns ? "TIME" : "SIGNAL", o->output);
    o->look = !o->live && !o->growth;
    o->kept = o->growth; /* to say who keeps what grows */
    return -1;
}

int leak_main(int argc, char **argv)
{
    struct leak_options o = {.run = {.me = "leak",
                                     .records_memory = true,
                                     .is_test = true,
                                     .follow = true,
                                     .look = true,
                                     .hide.known = true,
                                     .directories = true,
                                     .max_bytes = RUN_NO_LIMIT,
                                     .max_blocks = RUN_NO_LIMIT,
                                     .leak_status = FLAME_LEAKS}};
    int status = run_options_parse(&leak_command, &o.run, argc, argv);

    o.run.misuse = o.run.hide.misuse = o.check != NULL;
    if (status < 0)
        status = check_what(&o.run);
    if (status < 0)
        status = leak_output_check(&o);
    if (status < 0 && o.run.look)
        status = leak_target_check(o.run.subject) == 0 ? -1 : FLAME_USAGE;
    if (status < 0) {
        o.run.view = o.run.look ? "leak" : o.run.growth ? "growth" : "live";
        status = leak_filter_load(&o.run.hides, &o.run.hide,
                                  o.run.look     ? LEAK_FILTER_LEAKS
                                  : o.run.growth ? LEAK_FILTER_GROWTH
                                                 : LEAK_FILTER_LIVE);
    }
    if (!status && o.run.hides)
        status = recording_run(&o.run, record_mem, judge);
    leak_filter_free(o.run.hides);
    run_options_release(&o.run);
    return status;
}
