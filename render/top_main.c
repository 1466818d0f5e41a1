#include <errno.h>
#include <getopt.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "common/commands.h"
#include "common/error.h"
#include "common/opts.h"
#include "common/utf8.h"
#include "render/input.h"
#include "render/toplist.h"
#include "render/value.h"
#include "render/views.h"

#define DEFAULT_ROWS 30

struct request {
    enum top_sort sort;
    size_t rows; /* 0: all */
    bool exact;
    const char *view;
    char *const *inputs;
    size_t ninputs;
};

struct look {
    size_t columns; /* 0: names are not cut */
    bool color;
};

static const char help[] =
    "usage: flame top [OPTION...] [FILE...]\n"
    "\n"
    "Lists the symbols of folded stacks, or of traces, with what they and all they\n"
    "called took. Without FILE, or with '-', it reads standard input.\n"
    "\n"
    "  -s, --sort KEY   self (default), total or name\n"
    "  -n, --rows N     at most N symbols; 0: all (default: 30)\n"
    "  -e, --exact      all digits instead of KiB, MiB...\n"
    "      --view VIEW  of a trace: alloc, count, live, peak or temp (default: alloc)\n"
    "      --help       this text\n";

/*
 * A name as text a terminal only shows: controls, broken UTF-8 and what turns
 * the direction of text come out as \x1b or \u{202e}. Stops before `columns`
 * (0: never) are full and ends in "…" then.
 */
static void add_name(struct strbuf *sb, const char *s, size_t len, size_t columns)
{
    size_t used = 0, keep = sb->len;

    for (size_t i = 0; i < len;) {
        char escaped[16] = "";
        uint32_t cp = 0;
        size_t n = utf8_decode(s + i, len - i, &cp), wide;

        if (n == 0 || utf8_is_control(cp))
            snprintf(escaped, sizeof escaped, "\\x%02x", n ? cp : (unsigned char)s[i]);
        else if ((cp >= 0x202a && cp <= 0x202e) || (cp >= 0x2066 && cp <= 0x2069))
            snprintf(escaped, sizeof escaped, "\\u{%x}", cp);
        wide = *escaped ? strlen(escaped) : cp >= 0x1100 ? 2 : 1;
        if (columns && used + wide > columns) {
            strbuf_setlen(sb, keep);
            strbuf_addstr(sb, "\xe2\x80\xa6");
            return;
        }
        used += wide;
        if (*escaped)
            strbuf_addstr(sb, escaped);
        else
            strbuf_add(sb, s + i, n);
        if (!columns || used < columns) /* room for "…" behind this one */
            keep = sb->len;
        i += n ? n : 1;
    }
}

static void add_right(struct strbuf *sb, const char *text, size_t width)
{
    size_t len = 0;

    for (const char *p = text; *p; p++)
        len += (*p & 0xc0) != 0x80; /* the micro sign is two bytes */
    for (; len < width; len++)
        strbuf_addch(sb, ' ');
    strbuf_addstr(sb, text);
}

static void add_value(struct strbuf *sb, struct folded_count c, const char *unit, bool exact,
                      size_t width)
{
    struct strbuf text = STRBUF_INIT;

    if (exact || !value_add_human(&text, c, unit)) {
        value_add_number(&text, c, true);
        if (!exact && strcmp(unit, "bytes") == 0)
            strbuf_addstr(&text, "   B"); /* in line with KiB and MiB */
    }
    add_right(sb, text.buf, width);
    strbuf_release(&text);
}

static void add_share(struct strbuf *sb, struct folded_count c, double all)
{
    struct strbuf text = STRBUF_INIT;

    value_add_percent(&text, folded_count_double(c), all);
    add_right(sb, text.buf, 9);
    strbuf_release(&text);
}

static struct look find_look(void)
{
    const char *no_color = getenv("NO_COLOR"), *term = getenv("TERM");
    struct look look = {0};
    struct winsize ws;

    if (!isatty(STDOUT_FILENO))
        return look;
    look.columns = ioctl(STDOUT_FILENO, TIOCGWINSZ, &ws) == 0 && ws.ws_col ? ws.ws_col : 80;
    look.color = !(no_color && *no_color) && term && strcmp(term, "dumb") != 0;
    return look;
}

static void add_heading(struct strbuf *sb, const struct input *in, const char *unit, size_t symbols,
                        const struct look *look, size_t width)
{
    const struct view_look *view = in->view ? view_look(in->view) : NULL;
    struct strbuf all = STRBUF_INIT;

    strbuf_addstr(sb, view ? view->title : "All");
    strbuf_addstr(sb, ": ");
    value_add_both(&all, frametree_total(&in->tree, 0), unit);
    add_name(sb, all.buf, all.len, 0);
    strbuf_addf(sb, "; %zu symbols\n", symbols);
    strbuf_release(&all);
    strbuf_addstr(sb, look->color ? "\x1b[1m" : "");
    add_right(sb, "self", width);
    add_right(sb, "self%", 9);
    add_right(sb, "total", width + 2);
    add_right(sb, "total%", 9);
    strbuf_addf(sb, "  symbol%s\n", look->color ? "\x1b[0m" : "");
}

static void add_row(struct strbuf *sb, const struct input *in, const struct top_row *row,
                    const char *unit, const struct request *q, const struct look *look,
                    size_t width)
{
    const struct frametree_name *name = &in->tree.names[row->name];
    double all = folded_count_double(frametree_total(&in->tree, 0));
    size_t before = width + 9 + width + 2 + 9 + 2, room = 0;
    bool hot = look->color && folded_count_double(row->self) >= all / 10;

    if (look->columns)
        room = look->columns > before + 10 ? look->columns - before : 10;
    strbuf_addstr(sb, hot ? "\x1b[31m" : "");
    add_value(sb, row->self, unit, q->exact, width);
    add_share(sb, row->self, all);
    strbuf_addstr(sb, hot ? "\x1b[0m" : "");
    add_value(sb, row->total, unit, q->exact, width + 2);
    add_share(sb, row->total, all);
    strbuf_addstr(sb, "  ");
    add_name(sb, name->s, name->len, room);
    strbuf_addch(sb, '\n');
}

static int list(const struct request *q)
{
    struct look look = find_look();
    struct strbuf sb = STRBUF_INIT, widest = STRBUF_INIT;
    struct top_row *rows;
    const char *unit;
    struct input in;
    size_t n, width;
    struct input_options options = {.view = q->view};
    int status = input_read(&in, q->inputs, q->ninputs, &options);

    if (status)
        return status;
    unit = in.unit ? in.unit : in.view && view_look(in.view) ? view_look(in.view)->unit : "samples";
    rows = toplist_make(&in.tree, q->sort, &n);
    add_value(&widest, frametree_total(&in.tree, 0), unit, q->exact, 10);
    width = widest.len;
    add_heading(&sb, &in, unit, n, &look, width);
    for (size_t i = 0; i < n && (!q->rows || i < q->rows); i++)
        add_row(&sb, &in, &rows[i], unit, q, &look, width);
    if (fwrite(sb.buf, 1, sb.len, stdout) != sb.len || fflush(stdout) != 0)
        status = flame_error(FLAME_FAILED, "standard output: %s", strerror(errno));
    strbuf_release(&sb);
    strbuf_release(&widest);
    free(rows);
    input_release(&in);
    return status;
}

enum { OPT_VIEW = 256, OPT_HELP };

static const struct option long_options[] = {
    {"sort", required_argument, NULL, 's'}, {"rows", required_argument, NULL, 'n'},
    {"exact", no_argument, NULL, 'e'},      {"view", required_argument, NULL, OPT_VIEW},
    {"help", no_argument, NULL, OPT_HELP},  {NULL, 0, NULL, 0},
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

int top_main(int argc, char **argv)
{
    struct request q = {.rows = DEFAULT_ROWS};
    int opt, status;

    opterr = 0;
    optind = 0; /* not 1: getopt is to forget where it stood in another argv */
    while ((opt = getopt_long(argc, argv, ":s:n:e", long_options, NULL)) != -1) {
        status = -1;
        if (opt == 's')
            status = take_sort(&q, optarg);
        else if (opt == 'n')
            status = take_rows(&q, optarg);
        else if (opt == 'e')
            q.exact = true;
        else if (opt == OPT_VIEW)
            q.view = optarg;
        else if (opt == OPT_HELP)
            return fputs(help, stdout) < 0 ? FLAME_FAILED : FLAME_OK;
        else
            return opts_wrong("top", argv, opt);
        if (status >= 0)
            return status;
    }
    q.inputs = argv + optind;
    q.ninputs = (size_t)(argc - optind);
    return list(&q);
}
