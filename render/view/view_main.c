/* flame view: the viewer over what files hold. */
#include <stddef.h>

#include "common/commands.h"
#include "common/options/values.h"
#include "fold/viewtable.h"
#include "render/palette.h"
#include "render/viewfiles.h"

struct request {
    bool table, upwards;
    int palette, sort;
    const char *view;
    struct filter filter;
    struct wrappers_options wrappers;
    struct input_of_traces of_traces;
};

#define AT(member) offsetof(struct request, member)

static const struct opts_row rows[] = {
    {"table", 't', NULL, "begin with the table of symbols, not with the graph",
     .take = opts_take_true, .at = AT(table)},
    {"sort", 's', "KEY", "the table by self (default), total or name", .take = opts_take_word,
     .at = AT(sort), .words = "self total name"},
    {"view", 'v', "VIEW", "begin with this one of a trace (default: alloc or off)",
     .take = opts_take_choice, .at = AT(view), .add_words = view_words},
    {"colors", 0, "NAME", "palette (default: by view, else hot)", .take = opts_take_word,
     .at = AT(palette), .add_words = palette_add_names},
    {"upwards", 0, NULL, "the root at the bottom, as in pictures", .take = opts_take_true,
     .at = AT(upwards)},
    {0},
};

const struct opts_command view_command = {
    .name = "view",
    .summary = "look around in folded stacks or a trace, in the terminal",
    .usage = "[OPTION...] [FILE...]",
    .about = "Shows folded stacks, or traces, full-screen: graph, table, callers and callees,\n"
             "with search and zoom; '?' lists the keys. Without FILE, or with '-', it reads\n"
             "standard input, and keys from the terminal.",
    .tables = {{rows, 0},
               {input_trace_rows, AT(of_traces)},
               {age_rows, AT(of_traces.ages)},
               {fold_when_rows, AT(of_traces.when)},
               {filter_rows, AT(filter)},
               {wrappers_rows, AT(wrappers)}},
};

int view_main(int argc, char **argv)
{
    struct request q = {.palette = -1, .filter = FILTER_INIT};
    int first, status = opts_parse(&view_command, &q, argc, argv, &first);

    if (status < 0)
        status = viewfiles_show(&(struct viewfiles){
            .command = "view",
            .inputs = argv + first,
            .n = (size_t)(argc - first),
            .table = q.table,
            .sort = q.sort,
            .upwards = q.upwards,
            .palette = q.palette,
            .view = q.view,
            .filter = &q.filter,
            .wrappers = &q.wrappers,
            .of_traces = &q.of_traces,
        });
    filter_release(&q.filter);
    wrappers_release(&q.wrappers);
    input_of_traces_release(&q.of_traces);
    return status;
}
