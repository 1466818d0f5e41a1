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

bool view_is_in(const struct view *v, const struct trace *t)
{
    const struct view_need *need = v->need;

    if (!need)
        return true;
    return (!need->feature || t->header.features & need->feature) &&
           (!need->in_trace || need->in_trace(t));
}

/* With `grown`, the tables of what has grown are searched as well. */
static const struct view *find(const char *name, bool grown)
{
    for (size_t i = 0; i < ARRAY_LEN(tables); i++)
        for (const struct view *v = tables[i].views; v->name; v++) {
            if (strcmp(v->name, name) == 0)
                return v;
            if (grown && v->grown && strcmp(v->grown->name, name) == 0)
                return v->grown;
        }
    return NULL;
}

const struct view *view_find(const char *name)
{
    return find(name, false);
}

const struct view *view_of_text(const char *name)
{
    return name ? find(name, true) : NULL;
}

void view_list(struct strbuf *sb, uint32_t recorder)
{
    const struct view *views = views_of(recorder);

    for (const struct view *v = views; v->name; v++)
        strbuf_addf(sb, "%s%s", v == views ? "" : ", ", v->name);
}

void view_list_some(struct strbuf *sb, uint32_t recorder, bool (*wanted)(const struct view *v))
{
    const struct view *last = NULL;
    bool first = true;

    for (const struct view *v = views_of(recorder); v->name; v++)
        if (wanted(v))
            last = v;
    for (const struct view *v = views_of(recorder); last && v <= last; v++)
        if (wanted(v)) {
            strbuf_addf(sb, "%s%s", first ? "" : v == last ? " and " : ", ", v->name);
            first = false;
        }
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
