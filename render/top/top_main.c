#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "common/commands.h"
#include "common/error.h"
#include "common/options/values.h"
#include "fold/viewtable.h"
#include "render/input.h"
#include "render/top/topclasses.h"
#include "render/top/toplist.h"
#include "render/top/toptext.h"
#include "render/top/toptree.h"
#include "render/text/value.h"
#include "render/views.h"
#include "render/wrappers.h"

#define DEFAULT_ROWS 30

struct request {
    enum top_sort sort;
    size_t rows; /* 0: all */
    bool exact, tree, reverse;
    struct filter filter;
    struct wrappers_options wrappers;
    const char *view;
    struct input_of_traces of_traces;
    char *const *inputs;
    size_t ninputs;
};

static const char *const top_sorts[] = {"self", "total", "name", "size", "lived", "young"};

static struct toptree_look find_look(void)
{
    const char *no_color = getenv("NO_COLOR"), *term = getenv("TERM");
    struct toptree_look look = {0};
    struct winsize ws;

    if (!isatty(STDOUT_FILENO))
        return look;
    look.columns = ioctl(STDOUT_FILENO, TIOCGWINSZ, &ws) == 0 && ws.ws_col ? ws.ws_col : 80;
    look.color = !(no_color && *no_color) && term && strcmp(term, "dumb") != 0;
    return look;
}

static void add_heading(struct strbuf *sb, const struct input *in, const char *unit, size_t symbols,
                        const struct toptree_look *look, size_t width,
                        const struct topclasses *classes)
{
    const struct view_look *view = in->view ? view_look(in->view) : NULL;
    struct strbuf all = STRBUF_INIT, left_out = STRBUF_INIT;
    char *then = input_title(in);

    strbuf_addstr(sb, then ? then : view ? view->title : "All");
    free(then);
    strbuf_addstr(sb, ": ");
    value_add_both(&all, frametree_total(&in->tree, 0), unit);
    toptext_add_name(sb, all.buf, all.len, 0);
    strbuf_addf(sb, "; %zu symbols", symbols);
    strbuf_addstr(sb, input_say_left_out(in, &left_out) ? "; " : "");
    strbuf_addf(sb, "%s\n", left_out.buf);
    strbuf_release(&left_out);
    strbuf_release(&all);
    strbuf_addstr(sb, look->color ? "\x1b[1m" : "");
    if (classes) {
        toptext_add_columns(sb, width, "");
        strbuf_setlen(sb, sb->len - 2);
        topclasses_add_columns(sb);
        strbuf_addstr(sb, "  symbol");
    } else {
        toptext_add_columns(sb, width, "symbol");
    }
    strbuf_addf(sb, "%s\n", look->color ? "\x1b[0m" : "");
}

static void add_row(struct strbuf *sb, const struct input *in, const struct top_row *row,
                    const char *unit, const struct request *q, const struct toptree_look *look,
                    size_t width, const struct topclasses *classes)
{
    const struct frametree_name *name = &in->tree.names[row->name];
    double all = folded_count_double(frametree_total(&in->tree, 0));
    size_t before = width + 9 + width + 2 + 9 + 2 + (classes ? 11 + 14 + 9 : 0), room = 0;
    bool hot = look->color && folded_count_double(row->self) >= all / 10;

    if (look->columns)
        room = look->columns > before + 10 ? look->columns - before : 10;
    strbuf_addstr(sb, hot ? "\x1b[31m" : "");
    toptext_add_value(sb, row->self, unit, q->exact, width);
    toptext_add_share(sb, row->self, all);
    strbuf_addstr(sb, hot ? "\x1b[0m" : "");
    toptext_add_value(sb, row->total, unit, q->exact, width + 2);
    toptext_add_share(sb, row->total, all);
    if (classes)
        topclasses_add(classes, row->name, sb);
    strbuf_addstr(sb, "  ");
    toptext_add_name(sb, name->s, name->len, room);
    strbuf_addch(sb, '\n');
}

/* Without what only the columns of classes have, the classes' names for one. How many are left. */
static size_t drop_classes(const struct topclasses *classes, struct top_row *rows, size_t n)
{
    size_t kept = 0;

    for (size_t i = 0; i < n; i++)
        if (!classes || folded_count_double(rows[i].total) > 0)
            rows[kept++] = rows[i];
    return kept;
}

static int list(struct request *q)
{
    struct topclasses *classes;
    struct toptree_look look = find_look();
    struct outstream out = OUTSTREAM_INIT(stdout);
    struct strbuf widest = STRBUF_INIT;
    struct top_row *rows;
    bool *wrappers;
    const char *unit;
    struct input in;
    size_t n, width;
    struct input_options options = {.of_traces = &q->of_traces,
                                    .view = q->view,
                                    .filter = &q->filter,
                                    .command = "top",
                                    .classes = !q->tree,
                                    .reverse = q->reverse};
    int err, status = input_read(&in, q->inputs, q->ninputs, &options);

    if (status)
        return status;
    unit = in.unit ? in.unit : in.view && view_look(in.view) ? view_look(in.view)->unit : "samples";
    look.exact = q->exact;
    look.unit = unit;
    classes = in.ncolumns > 1 && !q->tree ? topclasses_make(&in) : NULL;
    if (!classes && q->sort > TOP_BY_NAME) {
        status =
            flame_error(FLAME_USAGE,
                        "top: -s %s is of traces with lifetimes, and not of a moment or a tree; "
                        "record with 'flame mem --lifetimes time -o x.flame'",
                        top_sorts[q->sort]);
        input_release(&in);
        return status;
    }
    wrappers = wrappers_mark(&q->wrappers, wrappers_scope(&q->wrappers, in.view, unit), &in.tree);
    rows = toplist_make(&in.tree, wrappers, q->sort, &n);
    n = drop_classes(classes, rows, n);
    if (q->sort > TOP_BY_NAME)
        topclasses_sort(classes, q->sort, rows, n);
    toptext_add_value(&widest, frametree_total(&in.tree, 0), unit, q->exact, 10);
    look.width = width = widest.len;
    add_heading(&out.sb, &in, unit, n, &look, width, classes);
    if (q->tree)
        toptree_write(&out, &in.tree, q->rows, &look);
    for (size_t i = 0; !q->tree && i < n && (!q->rows || i < q->rows); i++)
        add_row(&out.sb, &in, &rows[i], unit, q, &look, width, classes);
    err = outstream_end(&out);
    if (!err && fflush(stdout) != 0)
        err = -errno;
    if (err)
        status = flame_cannot_write(NULL, err);
    strbuf_release(&widest);
    topclasses_free(classes);
    free(rows);
    free(wrappers);
    input_release(&in);
    return status;
}

static int take_rows(void *at, const struct opts_row *row, const struct opts_given *given)
{
    char *end;

    (void)row;
    errno = 0;
    *(size_t *)at = strtoul(given->value, &end, 10);
    if (*given->value >= '0' && *given->value <= '9' && *end == '\0' && !errno)
        return 0;
    return opts_wrong_value(given, "a number, 0 for all");
}

#define AT(member) offsetof(struct request, member)

static const struct opts_row rows[] = {
    {"sort", 's', "KEY",
     "self (default), total or name; of a trace with lifetimes size, lived or young",
     .take = opts_take_word, .at = AT(sort), .words = "self total name size lived young"},
    {"rows", 'n', "N", "at most N symbols; 0: all (default: 30)", .take = take_rows,
     .at = AT(rows)},
    {"tree", 't', NULL, "the N largest frames as a tree, callees below callers",
     .take = opts_take_true, .at = AT(tree)},
    {"exact", 'e', NULL, "all digits instead of KiB, MiB...", .take = opts_take_true,
     .at = AT(exact)},
    {"view", 'v', "VIEW", "of a trace, as for 'flame fold' (default: alloc or off)",
     .take = opts_take_choice, .at = AT(view), .add_words = view_words},
    {0},
};

const struct opts_command top_command = {
    .name = "top",
    .summary = "list symbols with what they and their callees took",
    .usage = "[OPTION...] [FILE...]",
    .about = "Lists the symbols of folded stacks, or of traces, with what they and all they\n"
             "called took. Without FILE, or with '-', it reads standard input.",
    .tables = {{rows, 0},
               {input_trace_rows, AT(of_traces)},
               {age_rows, AT(of_traces.ages)},
               {fold_when_rows, AT(of_traces.when)},
               {filter_rows, AT(filter)},
               {wrappers_rows, AT(wrappers)}},
};

int top_main(int argc, char **argv)
{
    struct request q = {.rows = DEFAULT_ROWS, .filter = FILTER_INIT};
    int first, status = opts_parse(&top_command, &q, argc, argv, &first);

    q.inputs = argv + first;
    q.ninputs = (size_t)(argc - first);
    q.reverse = q.filter.from_caller;
    q.filter.from_caller = false;
    if (status < 0 && q.reverse && !q.tree)
        status = flame_error(FLAME_USAGE, "top: --from-caller turns the tree; add --tree");
    if (status < 0)
        status = list(&q);
    filter_release(&q.filter);
    wrappers_release(&q.wrappers);
    input_of_traces_release(&q.of_traces);
    return status;
}
