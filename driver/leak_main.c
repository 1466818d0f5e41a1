#include <stddef.h>

#include "common/commands.h"
#include "common/error.h"
#include "common/options/values.h"
#include "common/strbuf.h"
#include "driver/leak/leaklines.h"
#include "driver/leaklooks.h"
#include "driver/recording.h"
#include "driver/runsummary.h"
#include "driver/unseen.h"
#include "render/value.h"

#define LEAKS_SHOWN 10

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

/* By process and thread; of what is live only sums over all are kept. */
static int list_leaks(const struct recording *r, const struct run_options *o, struct leak_list *l)
{
    size_t n;
    struct trace *const *traces;

    if (!o->look)
        return leak_list_make(l, r->traces, r->ntraces, true);
    traces = tracesums_get(r->taken.leaks, &n);
    return leak_list_make(l, traces, n, false);
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

static void tell_looks(const struct taken *k)
{
    struct leak_looks looks;

    leak_looks_make(&looks, k);
    leak_looks_print(&looks);
    leak_looks_release(&looks);
}

static int draw(const struct recording *r, const struct run_options *o)
{
    struct strbuf folded = STRBUF_INIT;
    bool empty;
    int status = recording_fold(r, o, true, recording_wants_lines(o), &folded);

    if (!status)
        status = recording_write(r, o, &folded, &empty);
    if (!status)
        flame_warn("leak: all of them in %s", o->output);
    strbuf_release(&folded);
    return status;
}

/* There are leaks: o->leak_status, or an enum flame_exit after a line. */
static int report(const struct recording *r, const struct run_options *o)
{
    struct leak_list leaks;
    int status = list_leaks(r, o, &leaks);

    if (!status) {
        leak_lines_print(&leaks, LEAKS_SHOWN);
        leak_list_release(&leaks);
        status = draw(r, o);
    }
    return status ? status : (int)o->leak_status;
}

/* 0, o->leak_status, or an enum flame_exit after a line. */
static int judge(const struct recording *r, const struct run_options *o)
{
    struct run_summary s;
    bool leaks;

    run_summary_make(&s, r);
    leaks = is_over(&s, o);
    /* What was not looked at is no part of a clean bill. */
    if (leaks || !o->quiet) {
        run_summary_print_others(r);
        unseen_print(r);
        if (o->look)
            tell_looks(&r->taken);
        tell(&s, o, leaks);
    }
    return leaks ? report(r, o) : 0;
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
