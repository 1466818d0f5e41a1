/*
 * Java's stacks: jstack's thread dumps, IBM's javacore files, exceptions found
 * in logs, and reports of the Lightweight Java Profiler.
 *
 * From jstack only threads that run are counted, which its state alone does not
 * say: threads that wait in a system call are RUNNABLE to it, so the methods
 * that do such calls are known here, as are the JVM's own threads.
 */
#include "fold/collapse/readers.h"
#include "fold/stacks/span.h"

/* Cuts "at package.Class.method(File.java:1)" to the text before '('. */
static bool at_frame(struct span line, struct span *name)
{
    line = span_ltrim(line);
    if (!span_begins(line, "at "))
        return false;
    *name = span_from(line, 3);
    *name = span_to(*name, span_chr(*name, '('));
    return true;
}

/* ---- jstack ---- */

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
        } else if (at_frame(line, &name)) {
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

/* ---- IBM javacore ---- */

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
        } else if (span_is(tag, "4XESTACKTRACE") && at_frame(rest, &name)) {
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

/* ---- exceptions in logs ---- */

void collapse_exceptions_run(struct collapse *c)
{
    struct textrecord rec;
    struct span name;

    while (textinput_record(&c->in, &rec)) {
        struct span line = rec.line;

        if (at_frame(line, &name))
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
        if (at_frame(line, &name) && name.len < line.len && span_chr(name, '.') != SIZE_MAX &&
            span_rtrim(line).s[span_rtrim(line).len - 1] == ')')
            return 50;
    return 0;
}

/* ---- Lightweight Java Profiler ---- */

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
