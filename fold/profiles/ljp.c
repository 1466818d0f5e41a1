/* Lightweight Java Profiler: its report in text. */
#include "fold/collapse/readers.h"
#include "fold/stacks/span.h"

/* A line without its "(File.java:12)", in words. Words beyond the third are counted only. */
static size_t ljp_words(struct span line, struct strbuf *copy, struct span word[3])
{
    size_t open = span_chr(line, '('), close = span_rchr(line, ')'), n = 0;
    struct span rest, w;

    strbuf_clear(copy);
    if (open != SIZE_MAX && close != SIZE_MAX && close > open) {
        strbuf_add(copy, line.s, open);
        strbuf_add(copy, line.s + close + 1, line.len - close - 1);
    } else {
        strbuf_add(copy, line.s, line.len);
    }
    rest = (struct span){copy->buf, copy->len};
    while ((w = span_next(&rest)).len > 0) {
        if (n < 3)
            word[n] = w;
        n++;
    }
    return n;
}

void collapse_ljp_run(struct collapse *c)
{
    struct stackset_count count = {0, 0}, next;
    struct textrecord rec;
    struct span word[3];

    while (textinput_record(&c->in, &rec)) {
        struct span line = rec.line;
        size_t n = ljp_words(line, &c->scratch, word);

        if (n > 0 && span_is(word[0], "Total"))
            break;
        if (n == 3 && stackset_count_parse(word[0].s, word[0].len, &next)) {
            if (c->n > 0)
                collapse_flush(c, LEAF_FIRST, &count);
            count = next;
            collapse_push(c, word[2].s, word[2].len);
        } else if (n == 1 && c->n > 0) {
            collapse_push(c, word[0].s, word[0].len);
        } else if (n > 0) {
            collapse_unknown(c, line.s, line.len);
        }
    }
    if (c->n > 0)
        collapse_flush(c, LEAF_FIRST, &count);
}

int collapse_ljp_probe(const char *text, size_t len)
{
    struct strbuf copy = STRBUF_INIT;
    struct span rest = {text, len}, line, word[3];
    int sure = 0;

    /* The first line: two numbers and "method(File.java:12)". */
    if (span_line(&rest, &line) && span_ends(span_rtrim(line), ")") &&
        span_chr(line, '(') != SIZE_MAX && ljp_words(line, &copy, word) == 3 &&
        span_digits(word[0]) == word[0].len && span_digits(word[1]) == word[1].len)
        sure = 85;
    strbuf_release(&copy);
    return sure;
}
