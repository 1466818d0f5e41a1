/* bcc: stacks, a line for the process, and an indented count. */
#include "fold/collapse/countline.h"
#include "fold/collapse/readers.h"
#include "fold/stacks/span.h"

/* "    -                COMM (PID)" */
static bool is_bcc_process(struct span line, struct span *comm, struct span *pid)
{
    size_t open;

    line = span_rtrim(line);
    if (!span_begins(line, "    -  ") || !span_ends(line, ")"))
        return false;
    line = span_ltrim(span_from(line, 5));
    open = span_rchr(line, '(');
    if (open == SIZE_MAX || open == 0)
        return false;
    *comm = span_rtrim(span_to(line, open));
    *pid = span_to(span_from(line, open + 1), line.len - open - 2);
    return comm->len > 0 && pid->len > 0 && span_digits(*pid) == pid->len;
}

void collapse_bcc_run(struct collapse *c)
{
    struct strbuf process = STRBUF_INIT;
    struct textrecord rec;
    struct span comm, pid;
    struct stackset_count count;

    while (textinput_record(&c->in, &rec)) {
        struct span line = rec.line;
        struct span s = span_trim(line);

        if (is_bcc_process(line, &comm, &pid)) {
            strbuf_clear(&process);
            strbuf_add(&process, comm.s, comm.len);
            if (c->opt->pid || c->opt->tid) {
                strbuf_addch(&process, '-');
                strbuf_add(&process, pid.s, pid.len);
            }
        } else if (s.s != line.s && process.len && countline_number(line, &count)) {
            collapse_push(c, process.buf, process.len);
            collapse_flush(c, LEAF_FIRST, &count);
            strbuf_clear(&process);
        } else if (span_begins(line, "    ") && s.len) {
            collapse_push(c, s.s, s.len);
        } else if (s.len) {
            /* Column titles, "Sampling at 49 Hertz ..." and the like. */
            collapse_drop(c);
        }
    }
    if (c->n > 0)
        collapse_unknown(c, "end of file inside a stack", 26);
    collapse_drop(c);
    strbuf_release(&process);
}

int collapse_bcc_probe(const char *text, size_t len)
{
    static const char *const words[] = {"Sampling at ", "Tracing ", "Detaching...", NULL};
    struct span rest = {text, len}, line, comm, pid;
    struct stackset_count count;
    bool process = false;

    while (span_line(&rest, &line)) {
        if (process && countline_number(line, &count))
            return 90;
        process = is_bcc_process(line, &comm, &pid);
    }
    return countline_is_preamble(text, len, words) ? 50 : 0;
}
