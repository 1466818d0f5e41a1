/* flame live: the viewer over what is recorded meanwhile. */
#include <stddef.h>

#include "common/commands.h"
#include "common/error.h"
#include "common/options/values.h"
#include "driver/live/liveview.h"

#define AT(member) offsetof(struct liveview_options, member)

static const struct opts_row rows[] = {
    {"every", 'e', "TIME", "look again after so many seconds (default: 1)", .take = opts_take_time,
     .at = AT(every_ns), .least = LIVEVIEW_LEAST_NS, .which = 1000000000},
    {"interval", 'd', NULL, "begin with what came since the last refresh, not with all",
     .take = opts_take_true, .at = AT(interval)},
    {"table", 't', NULL, "begin with the table of symbols, not with the graph",
     .take = opts_take_true, .at = AT(table)},
    {0},
};

const struct opts_command live_command = {
    .name = "live",
    .summary = "watch what a process allocates or waits for, in the terminal",
    .usage = "[OPTION...] [--] COMMAND [ARGUMENT...]\n"
             "[OPTION...] -p PID",
    .about = "Runs COMMAND, or attaches to a process, and shows full-screen what its stacks\n"
             "allocate, or wait for, refreshed every second, until 'q'; a process is then\n"
             "left as it was. One that runs under 'flame mem' is not attached to: its trace\n"
             "is read. What COMMAND writes to the terminal is shown after 'q', and so is what\n"
             "follows until its end; its exit status is that of flame live.",
    .tables = {{liveview_rows, 0}, {rows, 0}},
    .operands = OPTS_COMMAND,
};

int live_main(int argc, char **argv)
{
    struct liveview_options o = {.me = "live", .every_ns = LIVEVIEW_EVERY_NS};
    int first, status = opts_parse(&live_command, &o, argc, argv, &first);

    if (status < 0 && argc > first && o.pid)
        status = flame_error(FLAME_USAGE, "live: -p and a command, '%s'; watch one or the other",
                             argv[first]);
    if (status < 0 && argc == first && !o.pid)
        status = flame_error(FLAME_USAGE, "live: no command to run, and no process by -p PID");
    if (status < 0) {
        o.command = argc > first ? argv + first : NULL;
        o.view = o.what == LIVE_MEMORY ? "live" : "off";
        status = liveview(&o);
    }
    return status;
}
