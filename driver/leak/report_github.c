/* Workflow commands of GitHub's runners, which become annotations: an error a stack. */
#include "driver/leak/leakreport.h"
#include "driver/leak/misuselines.h"

static void escape(struct strbuf *sb, char c)
{
    strbuf_addf(sb, "%%%02X", (unsigned char)c);
}

static void add_data(struct strbuf *sb, const char *s)
{
    leak_add_text(sb, s, "%\r\n", escape);
}

static void add_property(struct strbuf *sb, const char *s)
{
    leak_add_text(sb, s, "%\r\n:,", escape);
}

/* Adds an error annotation: `what` happened in `place`. */
static void add_error(struct strbuf *sb, const struct leak_report *r, const char *what,
                      const struct leak_frame *place, const struct strbuf *text)
{
    const char *path = leak_source_path(place);

    strbuf_addstr(sb, "::error ");
    if (path) {
        strbuf_addstr(sb, "file=");
        add_property(sb, path);
        if (place->line)
            strbuf_addf(sb, ",line=%u", place->line);
        strbuf_addch(sb, ',');
    }
    strbuf_addf(sb, "title=%s in ", what);
    add_property(sb, r->name);
    strbuf_addstr(sb, "::");
    add_data(sb, text->buf);
    strbuf_addch(sb, '\n');
}

static void add_leak(struct strbuf *sb, const struct leak_report *r, const struct leak_group *g)
{
    struct strbuf text = STRBUF_INIT;

    leak_group_add(&text, g);
    add_error(sb, r, "leak", leak_place(g->leak), &text);
    strbuf_release(&text);
}

static void add_misuse(struct strbuf *sb, const struct leak_report *r, const struct misuse *m)
{
    struct strbuf text = STRBUF_INIT, more = STRBUF_INIT;

    misuse_add_line(&text, m);
    misuse_add_more(&more, m, "; ");
    if (more.len)
        strbuf_addf(&text, "; %s", more.buf);
    add_error(sb, r, "misuse", misuse_place(m, MISUSE_CALL), &text);
    strbuf_release(&text);
    strbuf_release(&more);
}

/* Unchecked processes: a warning where they are allowed. */
static void add_unchecked(struct strbuf *sb, const struct leak_report *r)
{
    strbuf_addf(sb, "::%s title=not checked in ", r->unchecked_fails ? "error" : "warning");
    add_property(sb, r->name);
    strbuf_addstr(sb, "::");
    add_data(sb, r->unchecked);
    strbuf_addch(sb, '\n');
}

void report_github(struct strbuf *sb, const struct leak_report *r)
{
    if (*r->unchecked)
        add_unchecked(sb, r);
    for (size_t i = 0; r->misuses && i < r->misuses->n; i++)
        add_misuse(sb, r, &r->misuses->misuse[i]);
    for (size_t i = 0; i < r->groups->n && r->over; i++)
        add_leak(sb, r, &r->groups->group[i]);
}
