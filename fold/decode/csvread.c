#include "fold/decode/csvread.h"

void csvread_init(struct csvread *v)
{
    *v = (struct csvread){.text = STRBUF_INIT};
}

void csvread_release(struct csvread *v)
{
    strbuf_release(&v->text);
}

bool csvread_split(struct csvread *v, const char *line, size_t len)
{
    bool quoted = false;

    strbuf_clear(&v->text);
    v->n = 0;
    v->at[0] = 0;
    for (size_t i = 0; i < len; i++) {
        if (line[i] == '"' && quoted && i + 1 < len && line[i + 1] == '"') {
            strbuf_addch(&v->text, '"');
            i++;
        } else if (line[i] == '"') {
            quoted = !quoted;
        } else if (line[i] == ',' && !quoted) {
            if (v->n + 1 == CSV_COLUMNS)
                return false;
            v->at[++v->n] = v->text.len;
        } else {
            strbuf_addch(&v->text, line[i]);
        }
    }
    v->at[++v->n] = v->text.len;
    return !quoted;
}

struct span csvread_field(const struct csvread *v, size_t column)
{
    if (column >= v->n)
        return (struct span){"", 0};
    return (struct span){v->text.buf + v->at[column], v->at[column + 1] - v->at[column]};
}

size_t csvread_column(const struct csvread *v, const char *title)
{
    size_t n = strlen(title);
    bool prefix = n > 0 && title[n - 1] == '*';

    for (size_t i = 0; i < v->n; i++) {
        struct span s = span_trim(csvread_field(v, i));

        if (i == 0 && span_begins(s, "\xef\xbb\xbf"))
            s = span_from(s, 3);
        if (prefix ? s.len >= n - 1 && memcmp(s.s, title, n - 1) == 0 : span_is(s, title))
            return i;
    }
    return SIZE_MAX;
}
