/*
 * Backtraces that debuggers print, many of them one after the other: gdb,
 * eu-stack, AIX procstack, the wall clock profiler on gdb, and Python's
 * faulthandler. Every stack counts one; all print the leaf first.
 */
#include "fold/collapse/readers.h"
#include "fold/stacks/span.h"

static void flush_any(struct collapse *c)
{
    if (c->n > 0)
        collapse_flush_one(c, LEAF_FIRST);
}

/* "#12 "; false for another line. */
static bool frame_number(struct span *line)
{
    size_t digits;

    if (!span_begins(*line, "#"))
        return false;
    digits = span_digits(span_from(*line, 1));
    if (digits == 0)
        return false;
    *line = span_ltrim(span_from(*line, 1 + digits));
    return true;
}

/* ---- gdb ---- */

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

        if (!frame_number(&name)) {
            /* A line that begins with a blank continues the frame before. */
            if (!(line.len && is_blank_ch(line.s[0])))
                flush_any(c);
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
    flush_any(c);
}

int collapse_gdb_probe(const char *text, size_t len)
{
    struct span rest = {text, len}, line;
    bool thread = false;

    while (span_line(&rest, &line)) {
        if (span_begins(line, "Thread ") && span_find(line, "):"))
            thread = true;
        if (!frame_number(&line) || span_chr(line, '(') == SIZE_MAX)
            continue;
        if (thread || (span_begins(line, "0x") && span_find(line, " in ")))
            return 85;
        if (!span_begins(line, "0x"))
            return 40;
    }
    return 0;
}

/* ---- eu-stack ---- */

static void eu_flush(struct collapse *c, struct strbuf *pid, struct strbuf *tid)
{
    if (c->n == 0)
        return;
    if (c->opt->tid)
        collapse_push(c, tid->buf, tid->len);
    if (c->opt->pid)
        collapse_push(c, pid->buf, pid->len);
    flush_any(c);
}

/* "PID 123 - process" to "PID=123". */
static bool eu_id(struct span line, const char *what, struct strbuf *out)
{
    struct span word = span_next(&line), number = span_next(&line);

    if (!span_is(word, what) || number.len == 0 ||
        span_digits(number) + span_ends(number, ":") != number.len)
        return false;
    strbuf_clear(out);
    strbuf_addstr(out, what);
    strbuf_addch(out, '=');
    strbuf_add(out, number.s, span_digits(number));
    return true;
}

void collapse_eustack_run(struct collapse *c)
{
    struct strbuf pid = STRBUF_INIT, tid = STRBUF_INIT, next = STRBUF_INIT;
    struct textrecord rec;

    while (textinput_record(&c->in, &rec)) {
        struct span line = rec.line;
        struct span name = line;

        if (eu_id(line, "PID", &next)) {
            eu_flush(c, &pid, &tid);
            strbuf_clear(&pid);
            strbuf_add(&pid, next.buf, next.len);
        } else if (eu_id(line, "TID", &next)) {
            eu_flush(c, &pid, &tid);
            strbuf_clear(&tid);
            strbuf_add(&tid, next.buf, next.len);
        } else if (frame_number(&name) && span_begins(name, "0x")) {
            name = span_from(name, 2 + span_hex(span_from(name, 2)));
            if (span_begins(name, " - 1")) /* eu-stack -1: the address was a return's */
                name = span_from(name, 4);
            name = span_from(name, span_begins(name, " "));
            if (name.len)
                collapse_push(c, name.s, name.len);
            else
                collapse_push_str(c, "[unknown]");
        } else if (span_trim(line).len && line.s[0] != ' ') {
            collapse_unknown(c, line.s, line.len);
        }
    }
    eu_flush(c, &pid, &tid);
    strbuf_release(&pid);
    strbuf_release(&tid);
    strbuf_release(&next);
}

int collapse_eustack_probe(const char *text, size_t len)
{
    struct strbuf id = STRBUF_INIT;
    struct span rest = {text, len}, line;
    bool tid = false;
    int sure = 0;

    while (!sure && span_line(&rest, &line)) {
        tid |= eu_id(line, "TID", &id);
        if (tid && frame_number(&line) && span_begins(line, "0x"))
            sure = 90;
    }
    strbuf_release(&id);
    return sure;
}

/* ---- AIX procstack ---- */

/* "12345: /usr/bin/app -x" */
static bool aix_process(struct span line, struct span *name)
{
    size_t digits = span_digits(line);

    if (digits == 0 || !span_begins(span_from(line, digits), ":"))
        return false;
    *name = span_from(line, digits + 1);
    *name = span_next(name);
    return true;
}

static void aix_flush(struct collapse *c, const struct strbuf *process)
{
    if (c->n == 0)
        return;
    collapse_push(c, process->buf, process->len);
    flush_any(c);
}

void collapse_aix_run(struct collapse *c)
{
    struct strbuf process = STRBUF_INIT;
    struct textrecord rec;
    struct span name;

    while (textinput_record(&c->in, &rec)) {
        struct span line = rec.line;

        if (aix_process(line, &name)) {
            aix_flush(c, &process);
            strbuf_clear(&process);
            strbuf_add(&process, name.s, name.len);
        } else if (span_begins(line, "---------- tid#")) {
            aix_flush(c, &process);
        } else if (span_begins(line, "0x")) {
            struct span address = span_next(&line);
            size_t open;

            name = span_next(&line);
            open = span_chr(name, '(');
            name = span_to(name, open);
            if (name.len == 0 || (name.s[0] == '[' && name.s[name.len - 1] == ']'))
                name = address;
            collapse_push(c, name.s, name.len);
        } else if (span_trim(line).len) {
            collapse_unknown(c, line.s, line.len);
        }
    }
    aix_flush(c, &process);
    strbuf_release(&process);
}

int collapse_aix_probe(const char *text, size_t len)
{
    struct span rest = {text, len}, line, name;
    bool process = false;

    while (span_line(&rest, &line)) {
        process |= aix_process(line, &name) && name.len;
        if (process && (span_begins(line, "---------- tid#") ||
                        (span_begins(line, "0x") && span_find(line, "("))))
            return 70;
    }
    return 0;
}

/* ---- wall clock profiler ---- */

/* "99.791% ======== (17194 samples)" */
static bool wcp_samples(struct span line, struct stackset_count *count)
{
    const char *open = span_find(line, " (");
    struct span n;

    if (!open || !span_ends(line, " samples)") || !span_find(line, "% ="))
        return false;
    n = span_from(line, (size_t)(open - line.s) + 2);
    return stackset_count_parse(n.s, span_digits(n), count);
}

void collapse_wcp_run(struct collapse *c)
{
    struct stackset_count count = {0, 0};
    struct textrecord rec;
    bool started = false;

    while (textinput_record(&c->in, &rec)) {
        struct span line = rec.line;
        size_t digits;

        line = span_trim(line);
        if (!started) {
            started = span_begins(line, "Full stacks");
            continue;
        }
        digits = span_digits(line);
        if (wcp_samples(line, &count)) {
            continue;
        } else if (digits && span_begins(span_from(line, digits), ": ")) {
            collapse_push(c, line.s + digits + 2, line.len - digits - 2);
        } else if (line.len == 0 && c->n > 0) {
            collapse_flush(c, LEAF_FIRST, &count);
        }
    }
    if (c->n > 0)
        collapse_flush(c, LEAF_FIRST, &count);
}

int collapse_wcp_probe(const char *text, size_t len)
{
    struct span all = {text, len};

    return span_find(all, "\nFull stacks") && span_find(all, " samples)") ? 90 : 0;
}

/* ---- Python's faulthandler ---- */

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
            flush_any(c);
    }
    flush_any(c);
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
