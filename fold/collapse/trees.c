/*
 * Trees in plain text: FreeBSD's pmcstat -G, macOS sample, Xcode Instruments' deep copy,
 * valgrind's massif.
 *
 * pmcstat and massif print callers below callees, the others callees below callers; indented.h
 * describes how the numbers become counts.
 */
#include <stdlib.h>

#include "fold/collapse/readers.h"
#include "fold/stacks/span.h"
#include "fold/collapse/indented.h"
#include "fold/collapse/valgrind.h"

/* Takes a number off the front of *line. */
static bool take_number(struct span *line, struct stackset_count *count)
{
    size_t n = span_digits(*line);
    struct span digits = span_to(*line, n);

    *line = span_from(*line, n);
    return n > 0 && stackset_count_parse(digits.s, digits.len, count);
}

/* ---- pmcstat -G ---- */

/* " 70.59%  [12]        __mtx_unlock_flags @ /boot/kernel/kernel"; names may have blanks. */
static bool pmc_line(struct span line, size_t *depth, struct stackset_count *count,
                     struct span *name)
{
    const char *file;
    size_t n;

    *depth = span_indent(&line);
    for (n = 0; n < line.len && (is_digit_ch(line.s[n]) || line.s[n] == '.'); n++)
        continue;
    line = span_from(line, n);
    if (n == 0 || !span_begins(line, "%  ["))
        return false;
    line = span_from(line, 4);
    if (!take_number(&line, count) || !span_begins(line, "]"))
        return false;
    line = span_from(line, 1);
    file = span_find(line, " @ ");
    *name = span_trim(file ? span_to(line, (size_t)(file - line.s)) : line);
    return name->len > 0;
}

void collapse_pmc_run(struct collapse *c)
{
    struct indented t;
    struct textrecord rec;
    struct span name;
    struct stackset_count count;
    size_t depth;

    indented_init(&t, c, true, LEAF_FIRST);
    while (textinput_record(&c->in, &rec)) {
        struct span line = rec.line;

        if (pmc_line(line, &depth, &count, &name)) {
            if (c->opt->perl)
                name = span_to(name, span_token(name));
            indented_add(&t, depth, collapse_name(c, name.s, name.len), &count);
        } else if (span_trim(line).len && line.s[0] != '@')
            collapse_unknown(c, line.s, line.len);
    }
    indented_end(&t);
    indented_release(&t);
}

int collapse_pmc_probe(const char *text, size_t len)
{
    struct span rest = {text, len}, line, name;
    struct stackset_count count;
    size_t depth;

    while (span_line(&rest, &line))
        if (pmc_line(line, &depth, &count, &name))
            return 85;
    return 0;
}

/* ---- macOS sample ---- */

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
    if (!take_number(&line, count))
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

/* ---- Instruments, Edit > Deep Copy ---- */

/* "1.00 ms    0.1%<tab>1.00 ms<tab> <tab>  name": total, its share, self, depth by blanks. */
static bool instruments_line(struct span line, size_t *depth, struct stackset_count *count,
                             struct span *name)
{
    size_t percent = span_chr(line, '%');
    const char *tab = span_find(line, "\t \t");
    struct span self;

    if (percent == SIZE_MAX || !tab || (size_t)(tab - line.s) <= percent)
        return false;
    self = span_trim(span_to(span_from(line, percent + 1), (size_t)(tab - line.s) - percent - 1));
    if (!is_digit_ch(line.s[0]) || !indented_time(self.s, self.len, false, count))
        return false;
    *name = span_from(line, (size_t)(tab - line.s) + 3);
    *depth = span_blanks(*name);
    *name = span_rtrim(span_from(*name, *depth));
    return name->len > 0;
}

static void to_whole(struct stackset_count *c)
{
    struct stackset_count half = {0, STACKSET_PART / 2};

    stackset_count_add(c, &half);
    c->part = 0;
}

void collapse_instruments_run(struct collapse *c)
{
    struct indented t;
    struct stackset_count count;
    struct textrecord rec;
    struct span name;
    size_t depth;

    indented_init(&t, c, false, ROOT_FIRST);
    while (textinput_record(&c->in, &rec)) {
        struct span line = rec.line;

        if (instruments_line(line, &depth, &count, &name)) {
            to_whole(&count);
            indented_add(&t, depth, collapse_name(c, name.s, name.len), &count);
        } else if (c->in.line > 1 && span_trim(line).len) {
            collapse_unknown(c, line.s, line.len);
        }
    }
    indented_end(&t);
    indented_release(&t);
}

int collapse_instruments_probe(const char *text, size_t len)
{
    struct span rest = {text, len}, line, name;
    struct stackset_count count;
    size_t depth;

    while (span_line(&rest, &line))
        if (instruments_line(line, &depth, &count, &name))
            return 90;
    return 0;
}

/* ---- massif ---- */

/* " n1: 4000 0x1091A6: main (x.c:5)": depth by blanks. */
static bool massif_node(struct span line, size_t *depth, struct stackset_count *bytes,
                        struct span *name)
{
    size_t digits;
    struct span number;

    *depth = span_indent(&line);
    digits = span_begins(line, "n") ? span_digits(span_from(line, 1)) : 0;
    if (digits == 0 || !span_begins(span_from(line, digits + 1), ": "))
        return false;
    line = span_from(line, digits + 3);
    number = span_next(&line);
    *name = span_trim(line);
    return stackset_count_parse(number.s, number.len, bytes) && name->len > 0;
}

/*
 * Reads one snapshot's tree: the peak's if the file has it, else the last. As that is known only
 * at the end, each tree is kept as text until a better one comes.
 */
void collapse_massif_run(struct collapse *c)
{
    struct strbuf tree = STRBUF_INIT;
    struct textrecord rec;
    struct span rest, next, name;
    struct stackset_count bytes;
    struct indented t;
    bool peak = false, taking = false;
    size_t depth;

    while (textinput_record(&c->in, &rec)) {
        struct span line = rec.line;

        if (span_begins(line, "heap_tree=")) {
            bool is_peak = span_is(line, "heap_tree=peak");

            taking = !span_is(line, "heap_tree=empty") && (is_peak || !peak);
            peak |= is_peak;
            if (taking)
                strbuf_clear(&tree);
        } else if (taking && massif_node(line, &depth, &bytes, &name)) {
            strbuf_add(&tree, line.s, line.len);
            strbuf_addch(&tree, '\n');
        } else if (span_begins(line, "#--")) {
            taking = false;
        } else if (line.len && line.s[0] != '#' && span_chr(line, '=') == SIZE_MAX &&
                   !massif_node(line, &depth, &bytes, &name) &&
                   !(span_begins(line, "desc:") || span_begins(line, "cmd:") ||
                     span_begins(line, "time_unit:"))) {
            collapse_unknown(c, line.s, line.len);
        }
    }
    indented_init(&t, c, true, LEAF_FIRST);
    rest = (struct span){tree.buf, tree.len};
    while (span_line(&rest, &next))
        if (massif_node(next, &depth, &bytes, &name)) {
            name = valgrind_name(name, c->opt);
            if (depth == 0) /* all of the heap */
                name = span_of("[heap]");
            indented_add(&t, depth, collapse_name(c, name.s, name.len), &bytes);
        }
    indented_end(&t);
    indented_release(&t);
    strbuf_release(&tree);
}

int collapse_massif_probe(const char *text, size_t len)
{
    struct span all = {text, len};

    return span_find(all, "\nmem_heap_B=") || span_find(all, "\nheap_tree=") ? 95 : 0;
}
