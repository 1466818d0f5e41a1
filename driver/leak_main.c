#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#include "common/commands.h"
#include "common/error.h"
#include "common/options/values.h"
#include "common/strbuf.h"
#include "driver/biggest.h"
#include "driver/recording.h"
#include "driver/runsummary.h"
#include "driver/unseen.h"
#include "render/value.h"

#define STACKS_SHOWN 5
#define PROCESSES_NAMED 8

#define AT(member) offsetof(struct run_options, member)

static const struct opts_row rows[] = {
    {"max-bytes", .arg = "N", .help = "allow N leaked bytes (k, m, g: powers of 1024; default: 0)",
     .take = opts_take_bytes, .at = AT(max_bytes)},
    {"max-blocks", .arg = "N", .help = "allow N leaked blocks (default: 0)",
     .take = opts_take_bytes, .at = AT(max_blocks)},
    {"exit-code", .arg = "N", .help = "the status when there are leaks, 1 to 125 (default: 23)",
     .take = opts_take_uint, .at = AT(leak_status), .least = 1, .most = 125},
    {"live", .help = "count all that is live at the end, whatever leads to it",
     .take = opts_take_false, .at = AT(look)},
    {"output", 'o', "FILE",
     "the picture (default: leak.svg), or .folded, .flame, or an export: .pb.gz, .txt... (see "
     "flame render --help)",
     .take = opts_take_text, .at = AT(output)},
    RUN_ROW_DEPTH(AT(depth)),
    {"no-follow", .help = "leave the programs out that COMMAND starts", .take = opts_take_false,
     .at = AT(follow)},
    {"quiet", 'q', NULL, "say nothing when there is nothing to report", .take = opts_take_true,
     .at = AT(quiet)},
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
    .tables = {{rows, 0}},
    .operands = OPTS_COMMAND,
};

static void add_blocks(struct strbuf *sb, const struct taken_leaks *l)
{
    value_add_both(sb, (struct folded_count){.whole = l->bytes}, "bytes");
    strbuf_addstr(sb, " in ");
    run_summary_add_count(sb, l->blocks, "block", "blocks");
}

static void tell_live(struct strbuf *sb, const struct taken_totals *t)
{
    value_add_both(sb, (struct folded_count){.whole = t->live_bytes}, "bytes");
    strbuf_addstr(sb, " live at the end in ");
    run_summary_add_count(sb, t->live_blocks, "block", "blocks");
}

static void tell_leaked(struct strbuf *sb, const struct taken_totals *t)
{
    add_blocks(sb, &t->leaked);
    strbuf_addstr(sb, " leaked");
    if (!t->by_leak.blocks)
        return;
    strbuf_addstr(sb, ", and ");
    add_blocks(sb, &t->by_leak);
    strbuf_addstr(sb, " that only those lead to");
}

static bool is_limited(const struct run_options *o)
{
    return o->max_bytes != RUN_NO_LIMIT || o->max_blocks != RUN_NO_LIMIT;
}

static void tell(const struct run_summary *s, const struct run_options *o, bool leaks)
{
    struct strbuf sb = STRBUF_INIT;

    if (o->look)
        tell_leaked(&sb, &s->t);
    else
        tell_live(&sb, &s->t);
    strbuf_addstr(&sb, ", ");
    if (o->max_bytes != RUN_NO_LIMIT)
        run_summary_add_count(&sb, o->max_bytes, "byte ", "bytes ");
    if (o->max_blocks != RUN_NO_LIMIT)
        run_summary_add_count(&sb, o->max_blocks, "block ", "blocks ");
    flame_warn("leak: %s%sallowed%s", sb.buf, is_limited(o) ? "" : "0 ",
               leaks ? "; the largest:" : "");
    strbuf_release(&sb);
}

/* A process that executed another program went on as that. */
static bool has_looked(const struct taken *k, uint32_t pid)
{
    for (size_t i = 0; i < k->nprocesses; i++)
        if (k->process[i].pid == pid && k->process[i].looked)
            return true;
    return false;
}

/* Names those that have not looked, each once. */
static void tell_unseen(const struct taken *k)
{
    struct strbuf sb = STRBUF_INIT;
    size_t n = 0;

    for (size_t i = k->nprocesses; i-- > 0;) {
        const struct taken_process *p = &k->process[i];
        bool before = false;

        for (size_t j = i + 1; j < k->nprocesses && !before; j++)
            before = k->process[j].pid == p->pid;
        if (before || has_looked(k, p->pid))
            continue;
        if (n++ < PROCESSES_NAMED)
            strbuf_addf(&sb, "%s%s %" PRIu32, sb.len ? ", " : "", p->comm, p->pid);
    }
    if (n)
        flame_warn("leak: not looked for in %zu %s, which did not come to exit or may not be "
                   "looked at: %s%s",
                   n, n == 1 ? "process" : "processes", sb.buf, n > PROCESSES_NAMED ? "..." : "");
    strbuf_release(&sb);
}

static bool is_over(const struct run_summary *s, const struct run_options *o)
{
    uint64_t bytes = s->t.live_bytes, blocks = s->t.live_blocks;

    if (o->look) {
        bytes = s->t.leaked.bytes + s->t.by_leak.bytes;
        blocks = s->t.leaked.blocks + s->t.by_leak.blocks;
    }
    return is_limited(o) ? bytes > o->max_bytes || blocks > o->max_blocks : bytes || blocks;
}

/* 0, o->leak_status, or an enum flame_exit after a line. */
static int judge(const struct recording *r, const struct run_options *o)
{
    struct strbuf folded = STRBUF_INIT;
    struct run_summary s;
    bool leaks, empty;
    int status;

    run_summary_make(&s, r);
    leaks = is_over(&s, o);
    /* What was not looked at is no part of a clean bill. */
    if (leaks || !o->quiet) {
        tell(&s, o, leaks);
        run_summary_print_others(r);
        unseen_print(r);
        if (o->look)
            tell_unseen(&r->taken);
    }
    if (!leaks)
        return 0;
    /* Where in the source, whether the result shows that or not. */
    status = recording_fold(r, o, true, true, &folded);
    if (!status) {
        biggest_print(&folded, STACKS_SHOWN);
        if (!recording_wants_lines(o)) {
            strbuf_clear(&folded);
            status = recording_fold(r, o, true, false, &folded);
        }
    }
    if (!status) {
        status = recording_write(r, o, &folded, &empty);
    }
    if (!status)
        flame_warn("leak: all of them in %s", o->output);
    strbuf_release(&folded);
    return status ? status : (int)o->leak_status;
}

int leak_main(int argc, char **argv)
{
    struct run_options o = {.me = "leak",
                            .follow = true,
                            .output = "leak.svg",
                            .look = true,
                            .max_bytes = RUN_NO_LIMIT,
                            .max_blocks = RUN_NO_LIMIT,
                            .leak_status = FLAME_LEAKS};
    int status = run_options_parse(&leak_command, &o, argc, argv);

    if (status >= 0) {
        run_options_release(&o);
        return status;
    }
    o.view = o.look ? "leak" : "live";
    status = recording_run(&o, record_mem, judge);
    run_options_release(&o);
    return status;
}
