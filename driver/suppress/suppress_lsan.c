/* Suppressions as LeakSanitizer has them: leak:PATTERN, and misuse:PATTERN. */
#include "driver/suppress/suppress_impl.h"

/* A pattern gets stars at its ends if it is not anchored. */
static struct wildcard *make_pattern(const char *s, size_t len)
{
    struct strbuf sb = STRBUF_INIT;
    bool from = len && s[0] == '^', to = len > from && s[len - 1] == '$';
    struct wildcard *w;

    if (!from)
        strbuf_addch(&sb, '*');
    strbuf_add(&sb, s + from, len - from - to);
    if (!to)
        strbuf_addch(&sb, '*');
    w = wildcard_new(sb.buf, sb.len, false);
    strbuf_release(&sb);
    return w;
}

int suppress_read_lsan(struct suppress_text *t)
{
    static const struct {
        const char *word;
        unsigned kinds;
    } words[] = {{"leak:", SUPPRESS_ALL}, {"misuse:", SUPPRESS_MISUSE}};
    const char *s;
    size_t len;
    int more;

    while ((more = suppress_next_line(t, &s, &len)) == 1) {
        struct suppress_rule *r;
        size_t i = 0, n = 0;

        for (; i < ARRAY_LEN(words); i++) {
            n = strlen(words[i].word);
            if (len >= n && memcmp(s, words[i].word, n) == 0)
                break;
        }
        if (i == ARRAY_LEN(words))
            return suppress_wrong(t,
                                  "'%s' suppresses no leak; a line is leak:PATTERN or "
                                  "misuse:PATTERN, or the file is one of valgrind's and begins "
                                  "with '{'",
                                  suppress_quote(s, len));
        if (len == n)
            return suppress_wrong(t, "there is no pattern behind '%s'; %s* is for all",
                                  words[i].word, words[i].word);
        r = suppress_add_rule(t, s, len);
        r->facts.kinds = words[i].kinds;
        suppress_add_line(t, r, SUPPRESS_ANYTHING, make_pattern(s + n, len - n));
    }
    return more;
}
