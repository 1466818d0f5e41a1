#include "render/top/topfiles.h"

#include <errno.h>
#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "common/error.h"
#include "common/options/values.h"
#include "fold/viewtable.h"
#include "render/difference.h"
#include "render/frameplaces.h"
#include "render/findings/regionwords.h"
#include "render/top/topclasses.h"
#include "render/top/toplatency.h"
#include "render/top/topplaces.h"
#include "render/top/toptext.h"
#include "render/top/toptree.h"
#include "render/text/value.h"
#include "render/viewfiles.h"

#define REGIONS_TOLD 5

static const char *const top_sorts[] = {"self", "total", "name",  "self-change", "change",
                                        "size", "lived", "young", "p50",         "p95",
                                        "p99",  "max",   "rate",  "total-rate"};

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

/* The input of the table's head and its rows. */
struct table {
    const struct input *in;
    const struct top_request *q;
    const struct toptree_look *look;
    const struct topclasses *classes; /* NULL: no columns for them */
    const struct toplatency *latency; /* NULL: no columns for it */
    const struct frameplaces *places; /* NULL: rows are symbols */
    const char *unit;
    size_t width; /* of a count */
    bool changes;
    struct folded_count all_before; /* the total before, in a comparison */
};

/* Width of a column with a signed count and its share. */
static size_t change_width(const struct table *t)
{
    return t->width + 3;
}

static void add_change_heads(struct strbuf *sb, const struct table *t, const char *before,
                             const char *after, const char *change)
{
    toptext_add_right(sb, before, change_width(t));
    toptext_add_right(sb, after, change_width(t));
    toptext_add_right(sb, change, change_width(t));
    toptext_add_right(sb, "of before", 10);
}

static struct folded_count count_of(double n)
{
    n = n > 0 ? n : 0;
    return (struct folded_count){(uint64_t)n, n - floor(n)};
}

/* Adds the count before, the count after, and the difference. */
static void add_changes(struct strbuf *sb, const struct table *t, struct folded_count after,
                        double change)
{
    struct folded_count before = count_of(folded_count_double(after) - change);

    toptext_add_value(sb, before, t->unit, t->q->exact, change_width(t));
    toptext_add_value(sb, after, t->unit, t->q->exact, change_width(t));
    toptext_add_change(sb, change, folded_count_double(t->all_before), t->unit, t->q->exact,
                       change_width(t));
}

static void add_heads(struct strbuf *sb, const struct table *t)
{
    const char *what = t->places ? frameplace_name(t->q->by) : "symbol";

    strbuf_addstr(sb, t->look->color ? "\x1b[1m" : "");
    if (t->changes) {
        add_change_heads(sb, t, "self before", "self after", "self change");
        add_change_heads(sb, t, "total before", "total after", "change");
    } else {
        toptext_add_columns(sb, t->width, "");
        strbuf_setlen(sb, sb->len - 2);
    }
    if (t->classes)
        topclasses_add_columns(sb);
    if (t->latency)
        toplatency_add_columns(sb);
    strbuf_addf(sb, "  %s%s\n", what, t->look->color ? "\x1b[0m" : "");
}

static void add_region(void *arg, const char *line)
{
    struct strbuf *sb = arg;

    toptext_add_name(sb, line, strlen(line), 0);
    strbuf_addch(sb, '\n');
}

static void add_heading(struct strbuf *sb, const struct table *t, size_t rows)
{
    const struct input *in = t->in;
    const struct view *view = view_of_text(in->view);
    struct strbuf all = STRBUF_INIT, left_out = STRBUF_INIT;
    char *then = input_title(in);

    strbuf_addstr(sb, then ? then : view ? view->title : "All");
    free(then);
    strbuf_addstr(sb, ": ");
    if (t->changes) {
        value_add_both(&all, t->all_before, t->unit);
        strbuf_addstr(&all, " before, ");
    }
    value_add_both(&all, frametree_total(&in->tree, 0), t->unit);
    strbuf_addstr(&all, t->changes ? " after" : "");
    toptext_add_name(sb, all.buf, all.len, 0);
    strbuf_addf(sb, "; %zu %s%s", rows, t->places ? frameplace_name(t->q->by) : "symbol",
                !t->places || rows != 1 ? t->q->by == FRAMEPLACE_PROCESS ? "es" : "s" : "");
    strbuf_addstr(sb, input_say_left_out(in, &left_out) ? "; " : "");
    strbuf_addstr(sb, left_out.buf);
    if (t->latency)
        toplatency_add_unknown(t->latency, sb);
    strbuf_addch(sb, '\n');
    regionwords_say(&in->regions, REGIONS_TOLD, add_region, sb);
    strbuf_release(&left_out);
    strbuf_release(&all);
    add_heads(sb, t);
}

static void add_row(struct strbuf *sb, const struct table *t, const struct top_row *row)
{
    const struct toptree_look *look = t->look;
    const struct frametree_name *name = t->places ? NULL : &t->in->tree.names[row->name];
    double all = folded_count_double(frametree_total(&t->in->tree, 0));
    size_t columns = t->classes ? 11 + 14 + 9 : t->latency ? TOPLATENCY_WIDTH : 0;
    size_t counts = t->changes ? 2 * (3 * change_width(t) + 10) : 2 * t->width + 2 + 2 * 9;
    size_t before = counts + 2 + columns, room = 0;
    bool hot = look->color && folded_count_double(row->self) >= all / 10, exact = t->q->exact;
    size_t len = name ? name->len : 0;
    const char *text = name ? name->s : frameplaces_text(t->places, row->name, &len);

    if (look->columns)
        room = look->columns > before + 10 ? look->columns - before : 10;
    strbuf_addstr(sb, hot ? "\x1b[31m" : "");
    if (t->changes) {
        add_changes(sb, t, row->self, row->self_change);
    } else {
        toptext_add_value(sb, row->self, t->unit, exact, t->width);
        toptext_add_share(sb, row->self, all);
    }
    strbuf_addstr(sb, hot ? "\x1b[0m" : "");
    if (t->changes) {
        add_changes(sb, t, row->total, row->change);
    } else {
        toptext_add_value(sb, row->total, t->unit, exact, t->width + 2);
        toptext_add_share(sb, row->total, all);
    }
    if (t->classes)
        topclasses_add(t->classes, row->name, sb);
    if (t->latency)
        toplatency_add(t->latency, row->name, sb);
    strbuf_addstr(sb, "  ");
    toptext_add_name(sb, text, len, room);
    strbuf_addch(sb, '\n');
}

/* Refuses a grouping by places if no frame has one. 0, or an enum flame_exit after a line. */
static int check_places(const struct frameplaces *p, const struct input *in, enum frameplace by)
{
    if (p->known || in->tree.n == 1)
        return 0;
    if (by == FRAMEPLACE_THREAD || by == FRAMEPLACE_PROCESS)
        return flame_error(FLAME_USAGE,
                           "top: --by %s: no stack here says which %s it is of; give the trace, or "
                           "fold it with --tid or --pid",
                           frameplace_name(by), frameplace_name(by));
    return flame_error(FLAME_USAGE, "top: --by: no frame here says where its code lies");
}

/* Refuses a sorting key that the input does not have. 0, or an enum flame_exit after a line. */
static int check_sort(const struct top_request *q, const struct input *in,
                      const struct topclasses *classes, const struct toplatency *latency)
{
    if (!latency && q->sort >= TOP_BY_P50)
        return flame_error(FLAME_USAGE,
                           "top: -s %s is of traces of 'flame off' in which something slept, and "
                           "not of --view latency, a tree or --by; record one with 'flame off -o "
                           "x.flame'",
                           top_sorts[q->sort]);
    if ((q->sort == TOP_BY_SELF_CHANGE || q->sort == TOP_BY_CHANGE) && !in->tree.delta)
        return flame_error(FLAME_USAGE, "top: -s %s is of comparisons, which 'flame diff' writes",
                           top_sorts[q->sort]);
    if (!classes && q->sort >= TOP_BY_SIZE && q->sort < TOP_BY_P50)
        return flame_error(FLAME_USAGE,
                           "top: -s %s is of traces with lifetimes, and not of a moment or a tree; "
                           "record with 'flame mem --lifetimes time -o x.flame'",
                           top_sorts[q->sort]);
    return 0;
}

/* Drops rows that only the columns of classes have, such as the classes' names. Returns how many
 * are left. */
static size_t drop_classes(bool classes, struct top_row *rows, size_t n)
{
    size_t kept = 0;

    for (size_t i = 0; i < n; i++)
        if (!classes || folded_count_double(rows[i].total) > 0)
            rows[kept++] = rows[i];
    return kept;
}

/* Widens the columns of counts: the total before may be larger. */
static void widen_for_before(struct table *t)
{
    struct strbuf widest = STRBUF_INIT;

    t->all_before = count_of(difference_before(&t->in->tree));
    toptext_add_value(&widest, t->all_before, t->unit, t->q->exact, t->width);
    t->width = widest.len;
    strbuf_release(&widest);
}

static int list(struct top_request *q)
{
    bool grouped = q->by != FRAMEPLACE_FUNCTION;
    struct topclasses *classes;
    struct toplatency *latency;
    struct toptree_look look = find_look();
    struct outstream out = OUTSTREAM_INIT(stdout);
    struct strbuf widest = STRBUF_INIT;
    struct frameplaces places;
    struct table table = {.q = q, .look = &look};
    struct top_row *rows = NULL;
    bool *wrappers = NULL;
    struct input in;
    size_t n = 0;
    struct input_options options = {.of_traces = &q->of_traces,
                                    .view = q->view,
                                    .filter = &q->filter,
                                    .command = "top",
                                    .classes = !q->tree && !grouped,
                                    .latency = !q->tree && !grouped && q->sort >= TOP_BY_P50,
                                    .modules = grouped,
                                    .lines = q->by == FRAMEPLACE_FILE || q->by == FRAMEPLACE_LINE,
                                    .by_thread = q->by == FRAMEPLACE_THREAD,
                                    .by_process = q->by == FRAMEPLACE_PROCESS,
                                    .first_side = !q->tree,
                                    .reverse = q->reverse};
    int err, status = input_read(&in, q->inputs, q->ninputs, &options);

    if (status)
        return status;
    table.in = &in;
    table.unit = in.unit                            ? in.unit
                 : in.view && view_of_text(in.view) ? view_of_text(in.view)->unit
                                                    : "samples";
    table.changes = in.tree.delta && !q->tree;
    look.exact = q->exact;
    look.unit = table.unit;
    table.classes = classes = in.ncolumns > 1 && !q->tree && !grouped ? topclasses_make(&in) : NULL;
    table.latency = latency =
        q->sort >= TOP_BY_P50 && !q->tree && !grouped ? toplatency_make(&in) : NULL;
    frameplaces_make(&places, &in.tree, q->by, in.view);
    status = check_sort(q, &in, classes, latency);
    if (!status && grouped)
        status = check_places(&places, &in, q->by);
    if (status)
        goto out;
    wrappers =
        wrappers_mark(&q->wrappers, wrappers_scope(&q->wrappers, in.view, table.unit), &in.tree);
    if (grouped) {
        table.places = &places;
        rows = topplaces_make(&places, wrappers, q->sort, &n);
    } else {
        rows = toplist_make(&in.tree, wrappers, q->sort, &n);
        n = drop_classes(classes || latency, rows, n);
    }
    if (latency)
        toplatency_sort(latency, q->sort, rows, n);
    else if (q->sort >= TOP_BY_SIZE)
        topclasses_sort(classes, q->sort, rows, n);
    toptext_add_value(&widest, frametree_total(&in.tree, 0), table.unit, q->exact, 10);
    look.width = table.width = widest.len;
    if (table.changes)
        widen_for_before(&table);
    add_heading(&out.sb, &table, n);
    if (q->tree)
        toptree_write(&out, &in.tree, q->rows, &look);
    for (size_t i = 0; !q->tree && i < n && (!q->rows || i < q->rows); i++)
        add_row(&out.sb, &table, &rows[i]);
    err = outstream_end(&out);
    if (!err && fflush(stdout) != 0)
        err = -errno;
    if (err)
        status = flame_cannot_write(NULL, err);
out:
    strbuf_release(&widest);
    topclasses_free(classes);
    toplatency_free(latency);
    frameplaces_release(&places);
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

#define AT(member) offsetof(struct top_request, member)

const struct opts_row top_rows[] = {
    {"sort", 's', "KEY",
     "self (default), total or name; of a comparison self-change or change; of a trace with "
     "lifetimes size, lived or young; of one of waiting p50, p95, p99 or max, of how long sleeps "
     "took; of -p and --live rate or total-rate, what came per second",
     .take = opts_take_word, .at = AT(sort),
     .words = "self total name self-change change size lived young p50 p95 p99 max rate "
              "total-rate"},
    {"rows", 'n', "N", "at most N symbols; 0: all (default: 30)", .take = take_rows,
     .at = AT(rows)},
    {"tree", 't', NULL, "the N largest frames as a tree, callees below callers",
     .take = opts_take_true, .at = AT(tree)},
    {"exact", 'e', NULL, "all digits instead of KiB, MiB...", .take = opts_take_true,
     .at = AT(exact)},
    {"view", 'v', "VIEW", "of a trace, as for 'flame fold' (default: alloc or off)",
     .take = opts_take_choice, .at = AT(view), .add_words = view_words},
    {"interactive", 'i', NULL, "look around in the terminal: 'flame view', from the table on",
     .take = opts_take_true, .at = AT(interactive)},
    {0},
};

/* Moves the filter's --by to the table, whose rows become these places. */
static void take_over_places(struct top_request *q)
{
    struct filter *f = &q->filter;

    if (q->tree)
        return;
    q->by = f->by == PLACE_MODULE ? FRAMEPLACE_MODULE
            : f->by == PLACE_FILE ? FRAMEPLACE_FILE
            : f->by == PLACE_LINE ? FRAMEPLACE_LINE
            : f->by_thread        ? FRAMEPLACE_THREAD
            : f->by_process       ? FRAMEPLACE_PROCESS
                                  : FRAMEPLACE_FUNCTION;
    f->by = PLACE_NONE;
    f->by_thread = f->by_process = false;
    f->active = f->npatterns || f->recursion || f->trim_shared;
}

int top_view_sort(const struct top_request *q, const char *option, int *sort)
{
    bool rate = q->sort >= TOP_BY_RATE;

    if (q->sort > TOP_BY_NAME && !rate)
        return flame_error(FLAME_USAGE, "top: -s %s is not for %s, which has self, total and name",
                           top_sorts[q->sort], option);
    *sort = rate ? TOP_BY_NAME + 1 + (int)(q->sort - TOP_BY_RATE) : (int)q->sort;
    return 0;
}

static int explore(struct top_request *q)
{
    int sort = 0, status = top_view_sort(q, "-i", &sort);

    if (status)
        return status;
    q->filter.from_caller = q->reverse;
    return viewfiles_show(&(struct viewfiles){
        .command = "top",
        .inputs = q->inputs,
        .n = q->ninputs,
        .table = !q->tree,
        .sort = sort,
        .palette = -1,
        .view = q->view,
        .filter = &q->filter,
        .wrappers = &q->wrappers,
        .of_traces = &q->of_traces,
    });
}

int top_files(struct top_request *q)
{
    q->reverse = q->filter.from_caller;
    q->filter.from_caller = false;
    if (q->reverse && !q->tree)
        return flame_error(FLAME_USAGE, "top: --from-caller turns the tree; add --tree");
    if (q->sort >= TOP_BY_RATE)
        return flame_error(FLAME_USAGE,
                           "top: -s %s is of what is being recorded: -p PID, or "
                           "--live TRACE",
                           top_sorts[q->sort]);
    if (!q->interactive)
        take_over_places(q);
    if (q->of_traces.ancestors && q->by >= FRAMEPLACE_THREAD)
        return flame_error(FLAME_USAGE,
                           "top: --by %s is of stacks that stand on it, and --ancestors puts "
                           "others below; choose one",
                           frameplace_name(q->by));
    return q->interactive ? explore(q) : list(q);
}

void top_request_release(struct top_request *q)
{
    filter_release(&q->filter);
    wrappers_release(&q->wrappers);
    input_of_traces_release(&q->of_traces);
}
