/* valgrind's massif: a tree of the heap, callers below callees. */
#include "fold/collapse/indented.h"
#include "fold/collapse/readers.h"
#include "fold/profiles/valgrind.h"
#include "fold/stacks/span.h"

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
