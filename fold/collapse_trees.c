/*
 * Trees in plain text: FreeBSD's pmcstat -G, macOS sample, Xcode Instruments'
 * deep copy, valgrind's massif.
 *
 * pmcstat and massif print callers below callees, the others callees below
 * callers; see collapse_tree.h for what is done with the numbers.
 */
#include <stdlib.h>

#include "fold/collapse_readers.h"
#include "fold/collapse_scan.h"
#include "fold/collapse_tree.h"
#include "fold/collapse_valgrind.h"

/* Takes a number off the front of *line. */
static bool take_number(struct span *line, struct collapse_count *count)
{
    size_t n = span_digits(*line);
    struct span digits = span_to(*line, n);

    *line = span_from(*line, n);
    return n > 0 && collapse_count_parse(digits.s, digits.len, count);
}

/* ---- pmcstat -G ---- */

/* " 70.59%  [12]        __mtx_unlock_flags @ /boot/kernel/kernel" */
static bool pmc_line(struct span line, size_t *depth, struct collapse_count *count,
                     struct span *name)
{
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
    *name = span_next(&line);
    return name->len > 0;
}

void collapse_pmc_run(struct collapse *c)
{
    struct collapse_tree t;
    struct span line, name;
    struct collapse_count count;
    size_t depth;

    collapse_tree_init(&t, c, true, LEAF_FIRST);
    while (collapse_input_line(&c->in, &line.s, &line.len)) {
        if (pmc_line(line, &depth, &count, &name))
            collapse_tree_add(&t, depth, collapse_name(c, name.s, name.len), &count);
        else if (span_trim(line).len && line.s[0] != '@')
            collapse_unknown(c, line.s, line.len);
    }
    collapse_tree_end(&t);
    collapse_tree_release(&t);
}

int collapse_pmc_probe(const char *text, size_t len)
{
    struct span rest = {text, len}, line, name;
    struct collapse_count count;
    size_t depth;

    while (span_line(&rest, &line))
        if (pmc_line(line, &depth, &count, &name))
            return 85;
    return 0;
}

/* ---- macOS sample ---- */

/* Leaves in which threads wait: a thread that waits all the time is no work. */
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

/* "    +   4282 _pthread_wqthread  (in libsystem_pthread.dylib) + 314 [0x7fff]" */
static bool sample_line(struct span line, size_t *depth, struct collapse_count *count,
                        struct strbuf *name)
{
    struct span first, second;
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
    first = span_next(&line);
    second = span_next(&line);
    strbuf_add(name, first.s, first.len);
    if (second.len && !span_is(second, "(in")) {
        strbuf_addch(name, '.');
        strbuf_add(name, second.s, second.len);
    }
    return first.len > 0;
}

void collapse_sample_run(struct collapse *c)
{
    struct collapse_tree t;
    struct collapse_count count;
    struct span line;
    bool inside = false;
    size_t depth;

    collapse_tree_init(&t, c, true, ROOT_FIRST);
    while (collapse_input_line(&c->in, &line.s, &line.len)) {
        if (span_begins(line, "Call graph")) {
            inside = true;
        } else if (span_begins(line, "Total number")) {
            inside = false;
            collapse_tree_end(&t);
        } else if (inside && sample_line(line, &depth, &count, &c->scratch)) {
            struct span name = {c->scratch.buf, c->scratch.len};
            uint32_t id = collapse_name(c, name.s, name.len);

            collapse_tree_add(&t, depth, id, &count);
            if (sample_waits(name)) /* its parents have spent it, and it counts for nobody */
                t.nodes[t.depth - 1].left = (struct collapse_count){0, 0};
        } else if (inside && span_trim(line).len) {
            collapse_unknown(c, line.s, line.len);
        }
    }
    collapse_tree_end(&t);
    collapse_tree_release(&t);
}

int collapse_sample_probe(const char *text, size_t len)
{
    struct span all = {text, len};

    return span_find(all, "\nCall graph:") || span_begins(all, "Call graph:") ? 90 : 0;
}

/* ---- Instruments, Edit > Deep Copy ---- */

/* "1.00 ms    0.1%<tab>1.00 ms<tab> <tab>  name": total, its share, self, depth by blanks. */
static bool instruments_line(struct span line, size_t *depth, struct collapse_count *count,
                             struct span *name)
{
    size_t percent = span_chr(line, '%');
    const char *tab = span_find(line, "\t \t");
    struct span self;

    if (percent == SIZE_MAX || !tab || (size_t)(tab - line.s) <= percent)
        return false;
    self = span_trim(span_to(span_from(line, percent + 1), (size_t)(tab - line.s) - percent - 1));
    if (!is_digit_ch(line.s[0]) || !collapse_time(self.s, self.len, false, count))
        return false;
    *name = span_from(line, (size_t)(tab - line.s) + 3);
    *depth = span_blanks(*name);
    *name = span_rtrim(span_from(*name, *depth));
    return name->len > 0;
}

static void to_whole(struct collapse_count *c)
{
    struct collapse_count half = {0, COLLAPSE_PART / 2};

    collapse_count_add(c, &half);
    c->part = 0;
}

void collapse_instruments_run(struct collapse *c)
{
    struct collapse_tree t;
    struct collapse_count count;
    struct span line, name;
    size_t depth;

    collapse_tree_init(&t, c, false, ROOT_FIRST);
    while (collapse_input_line(&c->in, &line.s, &line.len)) {
        if (instruments_line(line, &depth, &count, &name)) {
            to_whole(&count);
            collapse_tree_add(&t, depth, collapse_name(c, name.s, name.len), &count);
        } else if (c->in.line > 1 && span_trim(line).len) {
            collapse_unknown(c, line.s, line.len);
        }
    }
    collapse_tree_end(&t);
    collapse_tree_release(&t);
}

int collapse_instruments_probe(const char *text, size_t len)
{
    struct span rest = {text, len}, line, name;
    struct collapse_count count;
    size_t depth;

    while (span_line(&rest, &line))
        if (instruments_line(line, &depth, &count, &name))
            return 90;
    return 0;
}

/* ---- massif ---- */

/* " n1: 4000 0x1091A6: main (x.c:5)": depth by blanks. */
static bool massif_node(struct span line, size_t *depth, struct collapse_count *bytes,
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
    return collapse_count_parse(number.s, number.len, bytes) && name->len > 0;
}

/*
 * One snapshot's tree is taken: the peak's if the file has it, else the last. As
 * that is not known before the end, each tree is kept as text until a better
 * one comes.
 */
void collapse_massif_run(struct collapse *c)
{
    struct strbuf tree = STRBUF_INIT;
    struct span line, rest, name;
    struct collapse_count bytes;
    struct collapse_tree t;
    bool peak = false, taking = false;
    size_t depth;

    while (collapse_input_line(&c->in, &line.s, &line.len)) {
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
    collapse_tree_init(&t, c, true, LEAF_FIRST);
    rest = (struct span){tree.buf, tree.len};
    while (span_line(&rest, &line))
        if (massif_node(line, &depth, &bytes, &name)) {
            name = collapse_valgrind_name(name, c->opt);
            if (depth == 0) /* all of the heap */
                name = span_of("[heap]");
            collapse_tree_add(&t, depth, collapse_name(c, name.s, name.len), &bytes);
        }
    collapse_tree_end(&t);
    collapse_tree_release(&t);
    strbuf_release(&tree);
}

int collapse_massif_probe(const char *text, size_t len)
{
    struct span all = {text, len};

    return span_find(all, "\nmem_heap_B=") || span_find(all, "\nheap_tree=") ? 95 : 0;
}
