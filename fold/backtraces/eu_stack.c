/* eu-stack of elfutils. */
#include "fold/backtraces/backtrace.h"
#include "fold/collapse/readers.h"
#include "fold/stacks/span.h"

static void eu_flush(struct collapse *c, struct strbuf *pid, struct strbuf *tid)
{
    if (c->n == 0)
        return;
    if (c->opt->tid)
        collapse_push(c, tid->buf, tid->len);
    if (c->opt->pid)
        collapse_push(c, pid->buf, pid->len);
    backtrace_flush(c);
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
        } else if (backtrace_number(&name) && span_begins(name, "0x")) {
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
        if (tid && backtrace_number(&line) && span_begins(line, "0x"))
            sure = 90;
    }
    strbuf_release(&id);
    return sure;
}
