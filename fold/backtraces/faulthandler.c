/* Python's faulthandler. */
#include "fold/backtraces/backtrace.h"
#include "fold/collapse/readers.h"
#include "fold/stacks/span.h"

/* '  File "x.py", line 3 in f' */
static bool python_frame(struct span line, struct strbuf *name)
{
    const char *line_no, *in;

    if (!span_begins(line, "  File \""))
        return false;
    line = span_from(line, 8);
    line_no = span_find(line, "\", line ");
    if (!line_no)
        return false;
    strbuf_clear(name);
    strbuf_add(name, line.s, (size_t)(line_no - line.s));
    line = span_from(line, (size_t)(line_no - line.s) + 8);
    in = span_find(line, " in ");
    if (!in)
        return false;
    strbuf_addch(name, ':');
    strbuf_add(name, line.s, (size_t)(in - line.s));
    strbuf_addch(name, ':');
    line = span_from(line, (size_t)(in - line.s) + 4);
    strbuf_add(name, line.s, line.len);
    return true;
}

void collapse_faulthandler_run(struct collapse *c)
{
    struct textrecord rec;

    while (textinput_record(&c->in, &rec)) {
        struct span line = rec.line;

        if (python_frame(line, &c->scratch))
            collapse_push(c, c->scratch.buf, c->scratch.len);
        else if (!span_is(line, "  ..."))
            backtrace_flush(c);
    }
    backtrace_flush(c);
}

int collapse_faulthandler_probe(const char *text, size_t len)
{
    struct strbuf name = STRBUF_INIT;
    struct span rest = {text, len}, line;
    bool head = false;
    int sure = 0;

    while (!sure && span_line(&rest, &line)) {
        head |= span_ends(line, "(most recent call first):");
        if (python_frame(line, &name))
            sure = head ? 90 : 50;
    }
    strbuf_release(&name);
    return sure;
}
