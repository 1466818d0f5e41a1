/* IBM javacore files. */
#include "fold/backtraces/backtrace.h"
#include "fold/collapse/readers.h"
#include "fold/stacks/span.h"

static void javacore_end(struct collapse *c, struct strbuf *thread)
{
    if (c->n > 0) {
        if (thread->len)
            collapse_push(c, thread->buf, thread->len);
        collapse_flush_one(c, LEAF_FIRST);
    }
    strbuf_clear(thread);
}

void collapse_javacore_run(struct collapse *c)
{
    struct strbuf thread = STRBUF_INIT;
    struct textrecord rec;
    struct span name;

    while (textinput_record(&c->in, &rec)) {
        struct span line = rec.line;
        struct span rest = line, tag = span_next(&rest);

        rest = span_ltrim(rest);
        if (span_is(tag, "3XMTHREADINFO")) {
            javacore_end(c, &thread);
            if (span_begins(rest, "\""))
                rest = span_to(span_from(rest, 1), span_chr(span_from(rest, 1), '"'));
            else if (span_begins(rest, "Anonymous native thread"))
                rest = span_of("Anonymous native thread");
            else
                continue;
            strbuf_add(&thread, rest.s, rest.len);
        } else if (span_is(tag, "3XMTHREADINFO1") && c->opt->tid &&
                   span_begins(rest, "(native thread ID:")) {
            name = span_from(rest, strlen("(native thread ID:"));
            strbuf_addch(&thread, '-');
            strbuf_add(&thread, name.s, span_chr(name, ',') == SIZE_MAX ? 0 : span_chr(name, ','));
        } else if (span_is(tag, "4XESTACKTRACE") && backtrace_java_frame(rest, &name)) {
            collapse_push(c, name.s, name.len);
        }
    }
    javacore_end(c, &thread);
    strbuf_release(&thread);
}

int collapse_javacore_probe(const char *text, size_t len)
{
    struct span all = {text, len};

    return span_find(all, "\n3XMTHREADINFO") || span_find(all, "\n4XESTACKTRACE") ? 95 : 0;
}
