/*
 * Stacks that tracers print as one frame a line and a count behind: DTrace,
 * SystemTap and ktap, bpftrace, bcc.
 *
 * All print the leaf first. DTrace and SystemTap end a stack with a line that is
 * a number, bpftrace with "]: NUMBER", bcc with a line for the process and an
 * indented number.
 */
#include "fold/collapse/funcname.h"
#include "fold/collapse/readers.h"
#include "fold/stacks/span.h"

static bool is_number(struct span s, struct stackset_count *count)
{
    s = span_trim(s);
    return s.len > 0 && span_digits(s) == s.len && stackset_count_parse(s.s, s.len, count);
}

/* ---- DTrace ---- */

/* Lines that are not the aggregation's: "CPU ID FUNCTION:NAME", "  0  64091   :tick-60s". */
static bool is_dtrace_header(struct span s)
{
    struct span a, b, c;

    s = span_trim(s);
    if (span_begins(s, "dtrace:"))
        return true;
    a = span_next(&s);
    b = span_next(&s);
    c = span_next(&s);
    if (span_is(a, "CPU") && span_is(b, "ID"))
        return true;
    return a.len && span_digits(a) == a.len && b.len && span_digits(b) == b.len &&
           span_chr(c, ':') != SIZE_MAX && span_trim(s).len == 0;
}

static void dtrace_frame(struct collapse *c, struct span frame)
{
    struct strbuf *name = &c->scratch;
    uint32_t ids[64];
    size_t n = 0;

    frame = c->opt->perl ? funcname_cut_dtrace(frame) : funcname_before_offset(frame);
    while (n < ARRAY_LEN(ids)) {
        const char *arrow = c->opt->perl ? span_find(frame, "->") : funcname_arrow(frame, 0);
        struct span one = arrow ? span_to(frame, (size_t)(arrow - frame.s)) : frame;

        if (n > 0 && !arrow && one.len == 0)
            break;
        /* Java's "Lpackage/Class;". */
        if (span_begins(one, "L") && span_chr(one, '/') != SIZE_MAX)
            one = span_from(one, 1);
        strbuf_clear(name);
        strbuf_add(name, one.s, one.len);
        if (one.len == 0 && n == 0 && !arrow)
            strbuf_addch(name, '-');
        if (n > 0)
            strbuf_addstr(name, "_[i]");
        ids[n++] = collapse_name(c, name->buf, name->len);
        if (!arrow)
            break;
        frame = span_from(frame, (size_t)(arrow - frame.s) + 2);
    }
    while (n > 0)
        collapse_push_id(c, ids[--n]);
}

/* ---- SystemTap and ktap ---- */

static bool is_no_header(struct span line FLAME_UNUSED)
{
    return false;
}

static void stap_frame(struct collapse *c, struct span frame)
{
    frame = c->opt->perl ? span_to(frame, span_rchr(frame, '+')) : funcname_before_offset(frame);
    for (size_t i = frame.len; i >= 3; i--)
        if (memcmp(frame.s + i - 3, " : ", 3) == 0) {
            frame = span_from(frame, i);
            break;
        }
    if (frame.len)
        collapse_push(c, frame.s, frame.len);
    else
        collapse_push_str(c, "-");
}

/* ---- shared parts ---- */

/* Frames from the leaf on, a line each, and behind them the count, in a line of its own. */
static void run(struct collapse *c, bool (*is_header)(struct span line),
                void (*add_frame)(struct collapse *c, struct span frame))
{
    struct stackset_count count;
    struct textrecord rec;

    while (textinput_record(&c->in, &rec)) {
        struct span frame = span_ltrim(rec.line);

        if (frame.len == 0)
            continue;
        if (is_number(rec.line, &count)) {
            if (c->n > 0)
                collapse_flush(c, LEAF_FIRST, &count);
        } else if (!is_header(rec.line)) {
            add_frame(c, frame);
        }
    }
    if (c->n > 0) /* no count came */
        collapse_unknown(c, "end of file inside a stack", 26);
    collapse_drop(c);
}

void collapse_dtrace_run(struct collapse *c)
{
    run(c, is_dtrace_header, dtrace_frame);
}

void collapse_stap_run(struct collapse *c)
{
    run(c, is_no_header, stap_frame);
}

/* Counts the lines that look like each tracer's frames, in stacks that end in a number of their
 * own. */
static bool count_shapes(const char *text, size_t len, size_t *dtrace, size_t *stap)
{
    struct span rest = {text, len}, line;
    struct stackset_count count;
    bool frame = false, ended = false;

    *dtrace = *stap = 0;
    while (span_line(&rest, &line)) {
        struct span s = span_ltrim(line);

        if (s.len == 0 || is_dtrace_header(line))
            continue;
        if (is_number(line, &count)) {
            ended |= frame;
            continue;
        }
        frame = true;
        *stap += span_begins(s, "0x") && span_find(s, " : ") != NULL;
        *dtrace += s.s != line.s && (span_chr(s, '`') != SIZE_MAX || span_find(s, "+0x"));
    }
    return ended;
}

int collapse_dtrace_probe(const char *text, size_t len)
{
    size_t dtrace, stap;

    return count_shapes(text, len, &dtrace, &stap) && dtrace > stap ? 70 : 0;
}

int collapse_stap_probe(const char *text, size_t len)
{
    size_t dtrace, stap;

    return count_shapes(text, len, &dtrace, &stap) && stap ? 75 : 0;
}

/* ---- bpftrace ---- */

/* Parses "]: NUMBER" at the end; *before is the text before it. */
static bool ends_map(struct span line, struct span *before, struct stackset_count *count)
{
    line = span_rtrim(line);
    for (size_t i = line.len; i >= 3; i--)
        if (memcmp(line.s + i - 3, "]: ", 3) == 0) {
            *before = span_to(line, i - 3);
            return is_number(span_from(line, i), count);
        }
    return false;
}

/* Parses "@[" or "@name[" at the beginning; *behind is the text behind it. */
static bool begins_map(struct span line, struct span *behind)
{
    size_t n;

    if (!span_begins(line, "@"))
        return false;
    n = 1 + span_word(span_from(line, 1));
    if (n >= line.len || line.s[n] != '[')
        return false;
    *behind = span_from(line, n + 1);
    return true;
}

/* Pushes a key that is no stack (a command's name), without the commas around it. */
static void map_key(struct collapse *c, struct span key, size_t *at_root)
{
    key = span_trim(key);
    if (span_begins(key, ","))
        key = span_ltrim(span_from(key, 1));
    if (span_ends(key, ","))
        key = span_rtrim(span_to(key, key.len - 1));
    if (key.len == 0)
        return;
    collapse_push(c, key.s, key.len);
    if (at_root)
        ++*at_root;
}

/* Keys before the stack go to the root, where those behind it are anyway. */
static void end_map(struct collapse *c, size_t keys, const struct stackset_count *count)
{
    for (size_t i = 0; i < keys; i++)
        collapse_push_id(c, c->ids[i]);
    if (keys) {
        memmove(c->ids, c->ids + keys, (c->n - keys) * sizeof *c->ids);
        c->n -= keys;
    }
    if (c->n > 0)
        collapse_flush(c, LEAF_FIRST, count);
}

void collapse_bpftrace_run(struct collapse *c)
{
    struct stackset_count count;
    struct textrecord rec;
    struct span rest;
    bool inside = false;
    size_t keys = 0;

    while (textinput_record(&c->in, &rec)) {
        struct span line = rec.line;

        if (!inside) {
            keys = 0;
            if (!begins_map(line, &rest)) {
                if (span_trim(line).len && !span_begins(line, "Attaching ") &&
                    !span_begins(line, "Attached "))
                    collapse_unknown(c, line.s, line.len);
            } else if (ends_map(rest, &rest, &count)) {
                map_key(c, rest, NULL);
                end_map(c, 0, &count);
            } else {
                inside = true;
                map_key(c, rest, &keys);
            }
        } else if (ends_map(line, &rest, &count)) {
            map_key(c, rest, NULL);
            end_map(c, keys, &count);
            inside = false;
        } else {
            rest = span_ltrim(line);
            if (rest.len && !span_is(span_rtrim(rest), ","))
                collapse_push(c, rest.s, rest.len);
        }
    }
    if (inside)
        collapse_unknown(c, "end of file inside a stack", 26);
    collapse_drop(c);
}

/*
 * Whether the text is only a tool's preamble, in lines that begin with one of `words`: on an
 * idle machine nothing follows it.
 */
static bool says_only(const char *text, size_t len, const char *const *words)
{
    struct span rest = {text, len}, line;
    bool said = false;

    while (span_line(&rest, &line)) {
        const char *const *w = words;

        if (span_trim(line).len == 0)
            continue;
        while (*w && !span_begins(line, *w))
            w++;
        if (!*w)
            return false;
        said = true;
    }
    return said;
}

int collapse_bpftrace_probe(const char *text, size_t len)
{
    static const char *const words[] = {"Attaching ", "Attached ", NULL};
    struct span rest = {text, len}, line, part;
    struct stackset_count count;
    bool begun = false;

    while (span_line(&rest, &line)) {
        begun |= begins_map(line, &part);
        if (begun && ends_map(line, &part, &count))
            return 90;
    }
    return says_only(text, len, words) ? 50 : 0;
}

/* ---- bcc ---- */

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
        } else if (s.s != line.s && process.len && is_number(line, &count)) {
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
        if (process && is_number(line, &count))
            return 90;
        process = is_bcc_process(line, &comm, &pid);
    }
    return says_only(text, len, words) ? 50 : 0;
}
