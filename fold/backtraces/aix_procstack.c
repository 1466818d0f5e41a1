/* AIX: procstack. */
#include "fold/backtraces/backtrace.h"
#include "fold/collapse/readers.h"
#include "fold/stacks/span.h"

/* "12345: /usr/bin/app -x" */
static bool aix_process(struct span line, struct span *name)
{
    size_t digits = span_digits(line);

    if (digits == 0 || !span_begins(span_from(line, digits), ":"))
        return false;
    *name = span_from(line, digits + 1);
    *name = span_next(name);
    return true;
}

static void aix_flush(struct collapse *c, const struct strbuf *process)
{
    if (c->n == 0)
        return;
    collapse_push(c, process->buf, process->len);
    backtrace_flush(c);
}

void collapse_aix_run(struct collapse *c)
{
    struct strbuf process = STRBUF_INIT;
    struct textrecord rec;
    struct span name;

    while (textinput_record(&c->in, &rec)) {
        struct span line = rec.line;

        if (aix_process(line, &name)) {
            aix_flush(c, &process);
            strbuf_clear(&process);
            strbuf_add(&process, name.s, name.len);
        } else if (span_begins(line, "---------- tid#")) {
            aix_flush(c, &process);
        } else if (span_begins(line, "0x")) {
            struct span address = span_next(&line);
            size_t open;

            name = span_next(&line);
            open = span_chr(name, '(');
            name = span_to(name, open);
            if (name.len == 0 || (name.s[0] == '[' && name.s[name.len - 1] == ']'))
                name = address;
            collapse_push(c, name.s, name.len);
        } else if (span_trim(line).len) {
            collapse_unknown(c, line.s, line.len);
        }
    }
    aix_flush(c, &process);
    strbuf_release(&process);
}

int collapse_aix_probe(const char *text, size_t len)
{
    struct span rest = {text, len}, line, name;
    bool process = false;

    while (span_line(&rest, &line)) {
        process |= aix_process(line, &name) && name.len;
        if (process && (span_begins(line, "---------- tid#") ||
                        (span_begins(line, "0x") && span_find(line, "("))))
            return 70;
    }
    return 0;
}
