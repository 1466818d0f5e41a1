/*
 * jstack: thread dumps of Java.
 *
 * Only threads that run are counted. Their state alone does not say that: threads that wait in a
 * system call are RUNNABLE to jstack. So the methods that make such calls are known here, as are
 * the JVM's own threads.
 */
#include "fold/backtraces/backtrace.h"
#include "fold/collapse/readers.h"
#include "fold/stacks/span.h"

struct jstack_thread {
    bool named, quiet, runnable;
    struct strbuf name;
};

static bool waits(struct span method)
{
    return span_find(method, "epollWait") || span_find(method, "EPoll.wait") ||
           span_ends(method, "socketAccept") || span_ends(method, "socketRead0") ||
           (span_ends(method, "accept0") && span_find(method, "Socket"));
}

static void thread_head(struct collapse *c, struct jstack_thread *t, struct span line)
{
    static const char *const own[] = {" CompilerThread", "Signal Dispatcher", "Service Thread",
                                      "Attach Listener"};
    struct span name = span_to(span_from(line, 1), span_chr(span_from(line, 1), '"'));

    *t = (struct jstack_thread){.named = true, .name = t->name};
    for (size_t i = 0; i < ARRAY_LEN(own); i++)
        t->quiet |= span_find(name, own[i]) != NULL;
    if (!c->opt->tid) {
        size_t n = name.len;

        while (n > 0 && is_digit_ch(name.s[n - 1]))
            n--;
        if (n < name.len && n > 0 && name.s[n - 1] == '-')
            name.len = n - 1;
    }
    strbuf_clear(&t->name);
    strbuf_add(&t->name, name.s, name.len);
}

static void thread_end(struct collapse *c, struct jstack_thread *t)
{
    /* As the collapsers in common use have it, a thread without a stack is its name. */
    if (t->runnable && !t->quiet) {
        if (t->named)
            collapse_push(c, t->name.buf, t->name.len);
        if (c->n > 0)
            collapse_flush_one(c, LEAF_FIRST);
    }
    collapse_drop(c);
    *t = (struct jstack_thread){.name = t->name};
}

void collapse_jstack_run(struct collapse *c)
{
    static const char *const known[] = {"2",
                                        "Full thread dump",
                                        "JNI global ref",
                                        "Threads class SMR info",
                                        "_java_thread_list",
                                        "   Locked ownable synchronizers:", /* jstack -l */
                                        "   No compile task",
                                        "   Compiling:",
                                        "0x",
                                        "}",
                                        "#",
                                        "Heap"};
    struct jstack_thread t = {.name = STRBUF_INIT};
    struct textrecord rec;
    struct span name;

    while (textinput_record(&c->in, &rec)) {
        struct span line = rec.line;
        const char *state = span_find(line, "java.lang.Thread.State: ");
        bool skip = false;

        if (line.len == 0) {
            thread_end(c, &t);
        } else if (line.s[0] == '"') {
            if (t.named)
                thread_end(c, &t);
            thread_head(c, &t, line);
        } else if (state) {
            state += strlen("java.lang.Thread.State: ");
            name = span_from(line, (size_t)(state - line.s));
            t.runnable = span_is(span_to(name, span_token(name)), "RUNNABLE");
        } else if (backtrace_java_frame(line, &name)) {
            collapse_push(c, name.s, name.len);
            t.quiet |= waits(name);
        } else {
            for (size_t i = 0; i < ARRAY_LEN(known); i++)
                skip |= span_begins(line, known[i]);
            if (!skip && !span_begins(span_ltrim(line), "-"))
                collapse_unknown(c, line.s, line.len);
        }
    }
    thread_end(c, &t);
    strbuf_release(&t.name);
}

int collapse_jstack_probe(const char *text, size_t len)
{
    return span_find((struct span){text, len}, "java.lang.Thread.State: ") ? 90 : 0;
}
