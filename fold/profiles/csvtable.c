/* Tables of comma-separated values; see csvtable.h. */
#include "fold/profiles/csvtable.h"
#include "fold/stacks/span.h"

bool csvtable_find_head(struct collapse *c, struct csvread *v, const char *a, const char *b)
{
    while (textinput_record(&c->in, &v->row))
        if (csvread_split(v, v->row.line.s, v->row.line.len) && csvread_column(v, a) != SIZE_MAX &&
            (!b || csvread_column(v, b) != SIZE_MAX))
            return true;
    return false;
}

bool csvtable_has_head(const char *text, size_t len, const char *a, const char *b)
{
    struct span rest = {text, len}, line;
    struct csvread v;
    bool found = false;

    csvread_init(&v);
    for (int i = 0; i < 20 && !found && span_line(&rest, &line); i++)
        found = csvread_split(&v, line.s, line.len) && csvread_column(&v, a) != SIZE_MAX &&
                (!b || csvread_column(&v, b) != SIZE_MAX);
    csvread_release(&v);
    return found;
}

bool csvtable_next_row(struct collapse *c, struct csvread *v)
{
    while (textinput_record(&c->in, &v->row)) {
        struct span line = v->row.line;

        if (span_trim(line).len == 0)
            continue;
        if (csvread_split(v, line.s, line.len))
            return true;
        collapse_unknown(c, line.s, line.len);
    }
    return false;
}

void csvtable_not_understood(struct collapse *c, const struct csvread *v)
{
    collapse_unknown(c, v->text.buf, v->text.len);
}

bool csvtable_count(struct span s, struct stackset_count *out)
{
    char digits[32] = "";
    size_t n = 0;

    for (size_t i = 0; i < s.len; i++) {
        if (strchr("., ", s.s[i]) && s.s[i])
            continue;
        if (!is_digit_ch(s.s[i]) || n == sizeof digits)
            return false;
        digits[n++] = s.s[i];
    }
    return stackset_count_parse(digits, n, out);
}
