#include <errno.h>
#include <getopt.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "common/commands.h"
#include "common/error.h"
#include "common/opts.h"
#include "render/input.h"
#include "render/toplist.h"
#include "render/toptext.h"
#include "render/toptree.h"
#include "render/value.h"
#include "render/views.h"

#define DEFAULT_ROWS 30

struct request {
    enum top_sort sort;
    size_t rows; /* 0: all */
    bool exact, tree, reverse;
    struct filter filter;
    const char *view;
    char *const *inputs;
    size_t ninputs;
};

static const char help[] =
    "usage: flame top [OPTION...] [FILE...]\n"
    "\n"
    "Lists the symbols of folded stacks, or of traces, with what they and all they\n"
    "called took. Without FILE, or with '-', it reads standard input.\n"
    "\n"
    "  -s, --sort KEY   self (default), total or name\n"
    "  -n, --rows N     at most N symbols; 0: all (default: 30)\n"
    "  -t, --tree       the N largest frames as a tree, callees below callers\n"
    "  -e, --exact      all digits instead of KiB, MiB...\n"
    "      --view VIEW  of a trace, as for 'flame fold' (default: alloc or off)\n"
    "      --help       this text\n"
    "\n" FILTER_HELP;

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
                        const struct toptree_look *look, size_t width)
{
    const struct view_look *view = in->view ? view_look(in->view) : NULL;
    struct strbuf all = STRBUF_INIT, left_out = STRBUF_INIT;

    strbuf_addstr(sb, view ? view->title : "All");
    strbuf_addstr(sb, ": ");
    value_add_both(&all, frametree_total(&in->tree, 0), unit);
    toptext_add_name(sb, all.buf, all.len, 0);
    strbuf_addf(sb, "; %zu symbols", symbols);
    strbuf_addstr(sb, input_say_left_out(in, &left_out) ? "; " : "");
    strbuf_addf(sb, "%s\n", left_out.buf);
    strbuf_release(&left_out);
    strbuf_release(&all);
    strbuf_addstr(sb, look->color ? "\x1b[1m" : "");
    toptext_add_columns(sb, width, "symbol");
    strbuf_addf(sb, "%s\n", look->color ? "\x1b[0m" : "");
}

static void add_row(struct strbuf *sb, const struct input *in, const struct top_row *row,
                    const char *unit, const struct request *q, const struct toptree_look *look,
                    size_t width)
{
    const struct frametree_name *name = &in->tree.names[row->name];
    double all = folded_count_double(frametree_total(&in->tree, 0));
    size_t before = width + 9 + width + 2 + 9 + 2, room = 0;
    bool hot = look->color && folded_count_double(row->self) >= all / 10;

    if (look->columns)
        room = look->columns > before + 10 ? look->columns - before : 10;
    strbuf_addstr(sb, hot ? "\x1b[31m" : "");
    toptext_add_value(sb, row->self, unit, q->exact, width);
    toptext_add_share(sb, row->self, all);
    strbuf_addstr(sb, hot ? "\x1b[0m" : "");
    toptext_add_value(sb, row->total, unit, q->exact, width + 2);
    toptext_add_share(sb, row->total, all);
    strbuf_addstr(sb, "  ");
    toptext_add_name(sb, name->s, name->len, room);
    strbuf_addch(sb, '\n');
}

static int list(struct request *q)
{
    struct toptree_look look = find_look();
    struct outstream out = OUTSTREAM_INIT(stdout);
    struct strbuf widest = STRBUF_INIT;
    struct top_row *rows;
    const char *unit;
    struct input in;
    size_t n, width;
    struct input_options options = {
        .view = q->view, .filter = &q->filter, .command = "top", .reverse = q->reverse};
    int err, status = input_read(&in, q->inputs, q->ninputs, &options);

    if (status)
        return status;
    unit = in.unit ? in.unit : in.view && view_look(in.view) ? view_look(in.view)->unit : "samples";
    look.exact = q->exact;
    look.unit = unit;
    rows = toplist_make(&in.tree, q->sort, &n);
    toptext_add_value(&widest, frametree_total(&in.tree, 0), unit, q->exact, 10);
    look.width = width = widest.len;
    add_heading(&out.sb, &in, unit, n, &look, width);
    if (q->tree)
        toptree_write(&out, &in.tree, q->rows, &look);
    for (size_t i = 0; !q->tree && i < n && (!q->rows || i < q->rows); i++)
        add_row(&out.sb, &in, &rows[i], unit, q, &look, width);
    err = outstream_end(&out);
    if (!err && fflush(stdout) != 0)
        err = -errno;
    if (err)
        status = flame_error(FLAME_FAILED, "standard output: %s", strerror(-err));
    strbuf_release(&widest);
    free(rows);
    input_release(&in);
    return status;
}

enum { OPT_VIEW = 256, OPT_HELP };

static const struct option long_options[] = {
    {"sort", required_argument, NULL, 's'},
    {"rows", required_argument, NULL, 'n'},
    {"exact", no_argument, NULL, 'e'},
    {"tree", no_argument, NULL, 't'},
    {"view", required_argument, NULL, OPT_VIEW},
    {"help", no_argument, NULL, OPT_HELP},
    FILTER_OPTIONS,
    {NULL, 0, NULL, 0},
};

static int take_sort(struct request *q, const char *s)
{
    static const char *const keys[] = {"self", "total", "name"};

    for (size_t i = 0; i < ARRAY_LEN(keys); i++)
        if (strcmp(s, keys[i]) == 0) {
            q->sort = (enum top_sort)i;
            return -1;
        }
    return flame_error(FLAME_USAGE, "top: --sort %s: expected self, total or name", s);
}

static int take_rows(struct request *q, const char *s)
{
    char *end;

    errno = 0;
    q->rows = strtoul(s, &end, 10);
    if (*s >= '0' && *s <= '9' && *end == '\0' && !errno)
        return -1;
    return flame_error(FLAME_USAGE, "top: --rows %s: expected a number, 0 for all", s);
}

/* -1: go on; else the exit status. */
static int take_option(struct request *q, int opt, char **argv)
{
    int status = filter_option(&q->filter, "top", opt, optarg);

    if (status >= 0)
        return status == FLAME_OK ? -1 : status;
    switch (opt) {
    case 's':
        return take_sort(q, optarg);
    case 'n':
        return take_rows(q, optarg);
    case 'e':
        q->exact = true;
        return -1;
    case 't':
        q->tree = true;
        return -1;
    case OPT_VIEW:
        q->view = optarg;
        return -1;
    case OPT_HELP:
        fputs(help, stdout);
        return FLAME_OK;
    default:
        return opts_wrong("top", argv, opt);
    }
}

int top_main(int argc, char **argv)
{
    struct request q = {.rows = DEFAULT_ROWS, .filter = FILTER_INIT};
    int opt, status = -1;

    opterr = 0;
    optind = 0; /* not 1: getopt is to forget where it stood in another argv */
    while (status < 0 && (opt = getopt_long(argc, argv, ":s:n:et", long_options, NULL)) != -1)
        status = take_option(&q, opt, argv);
    q.inputs = argv + optind;
    q.ninputs = (size_t)(argc - optind);
    q.reverse = q.filter.from_caller;
    q.filter.from_caller = false;
    if (status < 0 && q.reverse && !q.tree)
        status = flame_error(FLAME_USAGE, "top: --from-caller turns the tree; add --tree");
    if (status < 0)
        status = list(&q);
    filter_release(&q.filter);
    return status;
}
