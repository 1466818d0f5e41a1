/* macOS: sample, a tree with callees below callers. */
#include "fold/collapse/indented.h"
#include "fold/collapse/readers.h"
#include "fold/stacks/span.h"

/* Leaves in which threads wait. A thread that waits all the time does no work. */
static bool sample_waits(struct span name)
{
    static const char *const waits[] = {"__psynch_cvwait",
                                        "__select",
                                        "__semwait_signal",
                                        "__ulock_wait",
                                        "__wait4",
                                        "__workq_kernreturn",
                                        "kevent",
                                        "mach_msg_trap",
                                        "read",
                                        "semaphore_wait_trap"};
    size_t tick = span_rchr(name, '`');

    if (tick != SIZE_MAX && !span_is(span_to(name, tick), "libsystem_kernel"))
        return false;
    name = span_from(name, tick + 1);
    for (size_t i = 0; i < ARRAY_LEN(waits); i++)
        if (span_is(name, waits[i]))
            return true;
    return false;
}

/*
 * Appends the name on a line: the part before the module, or for a thread's line its first two
 * words, with a '.' for the blank in between. The scripts in common use make all names of two
 * words so; here only methods of Objective-C, "-[NSView.draw]", keep that form.
 */
static void sample_name(struct span line, const char *in, bool words, struct strbuf *name)
{
    struct span whole = span_trim(in ? span_to(line, (size_t)(in - line.s)) : line);
    struct span first = span_next(&line), second = span_next(&line);

    if (in && !words && !span_begins(whole, "-[") && !span_begins(whole, "+[")) {
        strbuf_add(name, whole.s, whole.len);
        return;
    }
    strbuf_add(name, first.s, first.len);
    if (second.len && !span_is(second, "(in")) {
        strbuf_addch(name, '.');
        strbuf_add(name, second.s, second.len);
    }
}

/* "    +   4282 _pthread_wqthread  (in libsystem_pthread.dylib) + 314 [0x7fff]" */
static bool sample_line(struct span line, bool words, size_t *depth, struct stackset_count *count,
                        struct strbuf *name)
{
    const char *in;
    size_t n = 4;

    if (!span_begins(line, "    "))
        return false;
    while (n < line.len && !is_digit_ch(line.s[n])) {
        if (!strchr(" +!:|", line.s[n]))
            return false;
        n++;
    }
    *depth = (n - 4) / 2;
    line = span_from(line, n);
    if (!indented_take_number(&line, count))
        return false;
    strbuf_clear(name);
    in = span_find(line, "(in ");
    if (in) {
        struct span module = span_from(line, (size_t)(in - line.s) + 4);

        module = span_to(module, span_chr(module, ')'));
        for (size_t i = 0; i < module.len; i++) {
            if (span_begins(span_from(module, i), ".dylib"))
                i += 5;
            else
                strbuf_addch(name, module.s[i]);
        }
        strbuf_addch(name, '`');
    }
    sample_name(line, in, words, name);
    return span_trim(line).len > 0;
}

void collapse_sample_run(struct collapse *c)
{
    struct indented t;
    struct stackset_count count;
    struct textrecord rec;
    bool inside = false;
    size_t depth;

    indented_init(&t, c, true, ROOT_FIRST);
    while (textinput_record(&c->in, &rec)) {
        struct span line = rec.line;

        if (span_begins(line, "Call graph")) {
            inside = true;
        } else if (span_begins(line, "Total number")) {
            inside = false;
            indented_end(&t);
        } else if (inside && sample_line(line, c->opt->perl, &depth, &count, &c->scratch)) {
            struct span name = {c->scratch.buf, c->scratch.len};
            uint32_t id = collapse_name(c, name.s, name.len);

            indented_add(&t, depth, id, &count);
            if (sample_waits(name)) /* the parents' own counts exclude it, and it counts for no
                                       stack */
                t.nodes[t.depth - 1].left = (struct stackset_count){0, 0};
        } else if (inside && span_trim(line).len) {
            collapse_unknown(c, line.s, line.len);
        }
    }
    indented_end(&t);
    indented_release(&t);
}

int collapse_sample_probe(const char *text, size_t len)
{
    struct span all = {text, len};

    return span_find(all, "\nCall graph:") || span_begins(all, "Call graph:") ? 90 : 0;
}
