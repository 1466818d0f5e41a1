/*
 * opthelp.c: a command's help, laid out from its rows: names at the left, what they do from
 * one column on, both within 80 columns.
 */
#include "common/options/opts.h"

#define COLUMN 23
#define WIDTH 80

/* Appends text with its own line breaks, and more where a line would be too long. */
static void add_wrapped(struct strbuf *sb, const char *text)
{
    const char *line = text, *end, *blank;

    while (*line) {
        end = line + strcspn(line, "\n");
        if (end - line > WIDTH - COLUMN) {
            blank = line + WIDTH - COLUMN;
            while (blank > line && *blank != ' ')
                blank--;
            if (blank > line)
                end = blank;
        }
        strbuf_add(sb, line, (size_t)(end - line));
        line = *end ? end + 1 : end;
        strbuf_addf(sb, "\n%*s", *line ? COLUMN : 0, "");
    }
}

static void add_row(struct strbuf *sb, const struct opts_row *row)
{
    struct strbuf left = STRBUF_INIT, more = STRBUF_INIT;

    if (row->letter)
        strbuf_addf(&left, "  -%c, --%s", row->letter, row->name);
    else
        strbuf_addf(&left, "      --%s", row->name);
    if (row->arg && row->arg[0] == '[')
        strbuf_addf(&left, "[=%s", row->arg + 1);
    else if (row->arg)
        strbuf_addf(&left, " %s", row->arg);
    if (left.len >= COLUMN)
        strbuf_addf(&left, "\n%*s", COLUMN, "");
    strbuf_addf(sb, "%-*s", COLUMN, left.buf);
    add_wrapped(sb, row->help);
    if (row->add_help) {
        row->add_help(&more);
        strbuf_addf(sb, "%*s", COLUMN, "");
        add_wrapped(sb, more.buf);
    }
    strbuf_release(&left);
    strbuf_release(&more);
}

static void add_if_common(void *sb, const struct opts_row *row, size_t at)
{
    (void)at;
    if (!row->take)
        add_row(sb, row);
}

static void add_table(struct strbuf *sb, const struct opts_row *rows)
{
    for (const struct opts_row *r = rows; r->name || r->help; r++)
        if (!r->name)
            strbuf_addf(sb, "\n%s\n", r->help);
        else if (!r->hidden)
            add_row(sb, r);
}

static void add_usage(struct strbuf *sb, const struct opts_command *c)
{
    for (const char *line = c->usage, *end; *line; line = *end ? end + 1 : end) {
        end = line + strcspn(line, "\n");
        strbuf_addf(sb, "%s flame %s %.*s\n", line == c->usage ? "usage:" : "      ", c->name,
                    (int)(end - line), line);
    }
}

/* Tables that begin with a line of their own come after the rows that all commands have. */
static void add_tables(struct strbuf *sb, const struct opts_command *c, bool headed)
{
    for (size_t i = 0; i < OPTS_TABLES && c->tables[i].rows; i++)
        if (headed == !c->tables[i].rows->name)
            add_table(sb, c->tables[i].rows);
}

void opts_add_help(const struct opts_command *c, struct strbuf *sb)
{
    add_usage(sb, c);
    strbuf_addf(sb, "\n%s\n\n", c->about);
    add_tables(sb, c, false);
    opts_each(c, add_if_common, sb);
    add_tables(sb, c, true);
    if (c->add_help)
        c->add_help(sb);
}
