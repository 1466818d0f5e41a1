/* Workflow commands of GitHub's runners, which become annotations: an error a stack. */
#include "driver/leak/leakreport.h"

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

static void add_annotation(struct strbuf *sb, const struct leak_report *r,
                           const struct leak_group *g)
{
    const struct leak_frame *place = leak_place(g->leak);
    const char *path = leak_source_path(place);
    struct strbuf text = STRBUF_INIT;

    strbuf_addstr(sb, "::error ");
    if (path) {
        strbuf_addstr(sb, "file=");
        add_property(sb, path);
        if (place->line)
            strbuf_addf(sb, ",line=%u", place->line);
        strbuf_addch(sb, ',');
    }
    strbuf_addstr(sb, "title=leak in ");
    add_property(sb, r->name);
    strbuf_addstr(sb, "::");
    leak_group_add(&text, g);
    add_data(sb, text.buf);
    strbuf_addch(sb, '\n');
    strbuf_release(&text);
}

void report_github(struct strbuf *sb, const struct leak_report *r)
{
    for (size_t i = 0; i < r->groups->n && r->over; i++)
        add_annotation(sb, r, &r->groups->group[i]);
}
