#include "fold/viewtable.h"

static const struct {
    uint32_t recorder;
    const struct view *views;
} tables[] = {
    {TRACE_RECORDER_MEM, mem_views},
    {TRACE_RECORDER_OFF, off_views},
};

const struct view *views_of(uint32_t recorder)
{
    for (size_t i = 0; i < ARRAY_LEN(tables); i++)
        if (tables[i].recorder == recorder)
            return tables[i].views;
    return NULL;
}

const struct view *view_find(const char *name)
{
    for (size_t i = 0; i < ARRAY_LEN(tables); i++)
        for (const struct view *v = tables[i].views; v->name; v++)
            if (strcmp(v->name, name) == 0)
                return v;
    return NULL;
}

void view_list(struct strbuf *sb, uint32_t recorder)
{
    const struct view *views = views_of(recorder);

    for (const struct view *v = views; v->name; v++)
        strbuf_addf(sb, "%s%s", v == views ? "" : ", ", v->name);
}

/* The names of one recorder's views, or of all (0), with blanks between them. */
static void add_words(struct strbuf *sb, uint32_t recorder)
{
    for (size_t i = 0; i < ARRAY_LEN(tables); i++)
        for (const struct view *v = tables[i].views; v->name; v++)
            if (!recorder || tables[i].recorder == recorder)
                strbuf_addf(sb, "%s%s", sb->len ? " " : "", v->name);
}

static void add_help(struct strbuf *sb, const struct view *views)
{
    for (const struct view *v = views; v->name; v++)
        strbuf_addf(sb, "%s%-9s  %s%s", sb->len ? "\n" : "", v->name, v->what,
                    v == views ? " (default)" : "");
}

void view_words(struct strbuf *sb)
{
    add_words(sb, 0);
}

void view_words_mem(struct strbuf *sb)
{
    add_words(sb, TRACE_RECORDER_MEM);
}

void view_words_off(struct strbuf *sb)
{
    add_words(sb, TRACE_RECORDER_OFF);
}

void view_help(struct strbuf *sb)
{
    strbuf_addstr(sb, "of memory:");
    add_help(sb, mem_views);
    strbuf_addstr(sb, "\nof waiting, in microseconds (latency counts):");
    add_help(sb, off_views);
}

void view_help_mem(struct strbuf *sb)
{
    add_help(sb, mem_views);
}

void view_help_off(struct strbuf *sb)
{
    add_help(sb, off_views);
}
