#include <stdio.h>
#include <stdlib.h>

#include "common/commands.h"
#include "common/error.h"
#include "common/strbuf.h"
#include "driver/biggest.h"
#include "driver/recording.h"
#include "driver/runsummary.h"
#include "render/value.h"

#define STACKS_SHOWN 5

static void help(void)
{
    fputs("usage: flame leak [OPTION...] [--] COMMAND [ARGUMENT...]\n"
          "\n"
          "Runs COMMAND as 'flame mem' does and exits with 23 when memory is live at its end.\n"
          "The largest stacks are listed, and leak.svg shows them all. A COMMAND that fails\n"
          "keeps its own status; leaks are still reported.\n"
          "\n"
          "      --max-bytes N  allow N live bytes (k, m, g: powers of 1024; default: 0)\n"
          "  -o, --output FILE  the picture (default: leak.svg), or .folded, .flame, or an\n"
          "                     export: .pb.gz, .txt... (see flame render --help)\n"
          "      --depth N      frames kept of a stack, 8 to 65536 (default: 1024)\n"
          "      --no-follow    leave the programs out that COMMAND starts\n"
          "  -q, --quiet        say nothing when there is nothing to report\n"
          "      --help         this text\n",
          stdout);
}

static void tell(const struct run_summary *s, const struct run_options *o, bool leaks)
{
    struct strbuf sb = STRBUF_INIT;

    value_add_both(&sb, (struct folded_count){.whole = s->live_bytes}, "bytes");
    strbuf_addstr(&sb, " live at the end in ");
    run_summary_add_count(&sb, s->live_blocks, "block, ", "blocks, ");
    run_summary_add_count(&sb, o->max_bytes, "allowed", "allowed");
    flame_warn("leak: %s%s", sb.buf, leaks ? "; the largest:" : "");
    strbuf_release(&sb);
}

/* 0, FLAME_LEAKS, or another enum flame_exit after a line. */
static int judge(const struct recording *r, const struct run_options *o)
{
    struct strbuf folded = STRBUF_INIT;
    struct run_summary s;
    bool leaks, empty;
    int status;

    run_summary_make(&s, r);
    leaks = s.live_bytes > o->max_bytes;
    if (leaks || !o->quiet)
        tell(&s, o, leaks);
    if (!leaks)
        return 0;
    status = recording_fold(r, o, true, &folded);
    if (!status) {
        biggest_print(&folded, STACKS_SHOWN);
        status = recording_write(r, o, &folded, &empty);
    }
    if (!status)
        flame_warn("leak: all of them in %s", o->output);
    strbuf_release(&folded);
    return status ? status : FLAME_LEAKS;
}

int leak_main(int argc, char **argv)
{
    struct run_options o = {.me = "leak", .view = "live", .follow = true, .output = "leak.svg"};
    int status = run_options_parse(&o, argc, argv, help);

    if (status >= 0) {
        run_options_release(&o);
        return status;
    }
    status = recording_run(&o, record_mem, judge);
    run_options_release(&o);
    return status;
}
