/* Java exceptions in logs. */
#include "fold/backtraces/backtrace.h"
#include "fold/collapse/readers.h"
#include "fold/stacks/span.h"

void collapse_exceptions_run(struct collapse *c)
{
    struct textrecord rec;
    struct span name;

    while (textinput_record(&c->in, &rec)) {
        struct span line = rec.line;

        if (backtrace_java_frame(line, &name))
            collapse_push(c, name.s, name.len);
        else if (c->n > 0 && !span_find(line, "waiting on "))
            collapse_flush_one(c, LEAF_FIRST);
    }
    if (c->n > 0)
        collapse_flush_one(c, LEAF_FIRST);
}

int collapse_exceptions_probe(const char *text, size_t len)
{
    struct span rest = {text, len}, line, name;

    while (span_line(&rest, &line))
        if (backtrace_java_frame(line, &name) && name.len < line.len &&
            span_chr(name, '.') != SIZE_MAX && span_rtrim(line).s[span_rtrim(line).len - 1] == ')')
            return 50;
    return 0;
}
