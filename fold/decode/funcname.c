/* Names of functions; see funcname.h. */
#include "fold/decode/funcname.h"

/* Length of the operator's name at s[i], if it has brackets or arrows: "operator->",
 * "operator<<"; 0 if there is none. */
static size_t operator_at(struct span s, size_t i)
{
    size_t n = strlen("operator");

    if (s.s[i] != 'o' || !span_begins(span_from(s, i), "operator") ||
        (i > 0 && is_word_ch(s.s[i - 1])))
        return 0;
    while (i + n < s.len && s.s[i + n] && strchr("<>-=!", s.s[i + n]))
        n++;
    return n;
}

const char *funcname_arrow(struct span s, size_t from)
{
    size_t depth = 0, op;

    if (!span_find(span_from(s, from), "->")) /* as in most names */
        return NULL;
    for (size_t i = from; i < s.len; i++) {
        char ch = s.s[i];

        if ((op = operator_at(s, i)) > 0)
            i += op - 1;
        else if (ch == '-' && span_begins(span_from(s, i), "->")) {
            if (depth == 0 && (i == 0 || s.s[i - 1] != ' '))
                return s.s + i;
            i++;
        } else if (ch == '(' || ch == '<' || ch == '[' || ch == '{')
            depth++;
        else if ((ch == ')' || ch == '>' || ch == ']' || ch == '}') && depth > 0)
            depth--;
    }
    return NULL;
}

struct span funcname_before_offset(struct span s)
{
    for (size_t i = s.len; i >= 4; i--)
        if (is_hex_ch(s.s[i - 1]) && memcmp(s.s + i - 4, "+0x", 3) == 0)
            return span_to(s, i - 4);
    return s;
}

const char *funcname_cut_arrow(struct span s, size_t from)
{
    for (const char *at; (at = span_find(span_from(s, from), "->"));) {
        struct span before = {s.s, (size_t)(at - s.s)};

        if (!span_ends(before, "operator") && !span_ends(before, "operator-"))
            return at;
        from = (size_t)(at - s.s) + 2;
    }
    return NULL;
}

struct span funcname_cut_perf(struct span func)
{
    const char *dot = span_find(func, ".(");

    /* Go's "pkg.(*T).Method" keeps its parentheses. */
    if (dot && span_find(span_from(func, (size_t)(dot + 2 - func.s)), ")."))
        return func;
    for (size_t i = 0; i < func.len; i++)
        if (func.s[i] == '(' && !span_begins(span_from(func, i), "(anonymous namespace)"))
            return span_to(func, i);
    return func;
}

struct span funcname_cut_dtrace(struct span s)
{
    size_t plus = span_rchr(s, '+');
    const char *colons;

    s = span_to(s, plus);
    colons = span_find(s, "::");
    if (colons)
        for (size_t i = s.len; i > (size_t)(colons - s.s) + 2; i--)
            if (s.s[i - 1] == '(' || s.s[i - 1] == '<')
                return span_to(s, i - 1);
    return s;
}
