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

void view_words(struct strbuf *sb, uint32_t recorder)
{
    for (size_t i = 0; i < ARRAY_LEN(tables); i++)
        for (const struct view *v = tables[i].views; v->name; v++)
            if (!recorder || tables[i].recorder == recorder)
                strbuf_addf(sb, "%s%s", sb->len ? " " : "", v->name);
}

void view_list(struct strbuf *sb, uint32_t recorder)
{
    bool first = true;

    for (size_t i = 0; i < ARRAY_LEN(tables); i++) {
        if (recorder && tables[i].recorder != recorder)
            continue;
        for (const struct view *v = tables[i].views; v->name; v++, first = false)
            strbuf_addf(sb, "%s%s", first ? "" : ", ", v->name);
    }
}
