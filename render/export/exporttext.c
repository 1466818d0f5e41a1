#include "render/export/exporttext.h"

#include "common/error.h"
#include "render/framename.h"
#include "render/text/json.h"

void exporttext_heading(struct strbuf *sb, const struct render_options *o)
{
    framename_add_clean(sb, o->title, strlen(o->title));
    if (*o->subtitle) {
        strbuf_addstr(sb, " - ");
        framename_add_clean(sb, o->subtitle, strlen(o->subtitle));
    }
}

void exporttext_series(struct strbuf *sb, const struct series_set *set, uint32_t i)
{
    framename_add_clean(sb, set->s[i].title, strlen(set->s[i].title));
    if (set->compares && i < 2)
        strbuf_addstr(sb, set->s[i].before ? ", before" : ", after");
}

static void add_json(struct strbuf *sb, struct strbuf *text)
{
    json_add_string(sb, text->buf, text->len, 0);
    strbuf_release(text);
}

void exporttext_json_heading(struct strbuf *sb, const struct render_options *o)
{
    struct strbuf text = STRBUF_INIT;

    exporttext_heading(&text, o);
    add_json(sb, &text);
}

void exporttext_json_series(struct strbuf *sb, const struct series_set *set, uint32_t i)
{
    struct strbuf text = STRBUF_INIT;

    exporttext_series(&text, set, i);
    add_json(sb, &text);
}

void exporttext_warn_rounded(const char *format, const struct series_set *set, uint32_t i)
{
    flame_warn("%s has whole numbers only: the fractions of '%s' are rounded, with their sum kept",
               format, set->s[i].name);
}

void exporttext_warn_large(const char *format, const struct series_set *set)
{
    for (uint32_t i = 0; i < set->n; i++) {
        double sum = 0;

        for (uint32_t node = 0; node < set->t->n; node++)
            sum += folded_count_double(series_self(set, i, node));
        if (sum >= 0x1p63)
            flame_warn("%s has signed 64-bit numbers: the sum of '%s' is more, and its readers "
                       "will get it wrong",
                       format, set->s[i].name);
    }
}
