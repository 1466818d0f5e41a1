/* gdb: 'thread apply all bt'. */
#include "fold/backtraces/backtrace.h"
#include "fold/collapse/readers.h"
#include "fold/stacks/span.h"

/*
 * The name up to the " (" before its arguments. Brackets inside the name
 * ("f<void (int)>") hide theirs; an operator's '<' and '>' are no brackets.
 */
static struct span gdb_name(struct span s)
{
    const char *op = span_find(s, "operator");
    size_t i = op ? (size_t)(op - s.s) + 8 : 0;
    int depth = 0;

    if (op && (i >= s.len || is_word_ch(s.s[i])))
        op = NULL;
    for (i = 0; i < s.len; i++) {
        if (op && s.s + i == op) {
            i += 8;
            while (i < s.len && s.s[i] && strchr("<>-=!()[]", s.s[i]) && s.s[i] != ' ')
                i++;
            i--;
            continue;
        }
        if (s.s[i] == '(' && depth == 0 && i > 0 && s.s[i - 1] == ' ')
            return span_rtrim(span_to(s, i));
        if (s.s[i] == '<' || s.s[i] == '(')
            depth++;
        else if ((s.s[i] == '>' || s.s[i] == ')') && depth > 0)
            depth--;
    }
    return span_to(s, span_token(s));
}

void collapse_gdb_run(struct collapse *c)
{
    struct textrecord rec;

    while (textinput_record(&c->in, &rec)) {
        struct span line = rec.line;
        struct span name = line;

        if (!backtrace_number(&name)) {
            /* A line that begins with a blank continues the frame before. */
            if (!(line.len && is_blank_ch(line.s[0])))
                backtrace_flush(c);
            continue;
        }
        if (span_begins(name, "0x")) {
            struct span address = span_next(&name), in = span_next(&name);

            if (!span_is(in, "in")) {
                collapse_push(c, address.s, address.len);
                continue;
            }
            name = span_ltrim(name);
        }
        if (!span_begins(name, "<"))
            name = gdb_name(name);
        collapse_push(c, name.s, name.len);
    }
    backtrace_flush(c);
}

int collapse_gdb_probe(const char *text, size_t len)
{
    struct span rest = {text, len}, line;
    bool thread = false;

    while (span_line(&rest, &line)) {
        if (span_begins(line, "Thread ") && span_find(line, "):"))
            thread = true;
        if (!backtrace_number(&line) || span_chr(line, '(') == SIZE_MAX)
            continue;
        if (thread || (span_begins(line, "0x") && span_find(line, " in ")))
            return 85;
        if (!span_begins(line, "0x"))
            return 40;
    }
    return 0;
}
