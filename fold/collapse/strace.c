/*
 * strace -k: below each system call the stack that made it, leaf first, as strace(1) has it and
 * versions 5 and 6 print it:
 *
 *     [pid  77] read(3, "ab"..., 99) = 2 <0.000012>
 *      > /usr/lib/libc.so.6(__read+0x12) [0xf7a32]
 *      > /usr/bin/app(main+0x40) [0x1140]
 *
 * Each call counts one, or the time that strace -T says it took; its name is the leaf. A call that
 * was interrupted by another thread's ("<unfinished ...>") has its stack where it is resumed.
 */
#include <stdlib.h>

#include "fold/stacks/decimal.h"
#include "fold/collapse/located.h"
#include "fold/collapse/readers.h"

struct strace {
    struct collapse *c;
    bool timed; /* counts are time, not calls */
    bool inside, has_stack;
    struct stackset_count count;
    struct strbuf pid; /* of the call, or empty */
};

/* Takes "[pid  77] " or "77 " off the front. */
static struct span take_pid(struct span *line)
{
    struct span rest = *line, pid;
    bool bracket = span_begins(rest, "[pid ");

    if (bracket)
        rest = span_ltrim(span_from(rest, strlen("[pid ")));
    pid = span_to(rest, span_digits(rest));
    rest = span_from(rest, pid.len);
    if (pid.len == 0 || (bracket ? !span_begins(rest, "] ") : !span_begins(rest, " ")))
        return span_to(*line, 0);
    *line = span_ltrim(span_from(rest, bracket ? 2 : 1));
    return pid;
}

/* A line behind the time stamp that -t, -tt, -ttt and -r put before a call: "12:30:01.5 ",
 * "1700000.5 ". */
static struct span behind_stamp(struct span line)
{
    size_t stamp = 0;

    line = span_ltrim(line);
    while (stamp < line.len &&
           (is_digit_ch(line.s[stamp]) || line.s[stamp] == ':' || line.s[stamp] == '.'))
        stamp++;
    return stamp < line.len && line.s[stamp] == ' ' ? span_ltrim(span_from(line, stamp)) : line;
}

/* The name of a call or of one that is resumed; empty when the line has no call. */
static struct span call_name(struct span line)
{
    size_t n;

    if (span_begins(line, "<... ")) {
        line = span_from(line, strlen("<... "));
        n = span_word(line);
        return span_begins(span_from(line, n), " resumed>") ? span_to(line, n) : span_to(line, 0);
    }
    n = span_word(line);
    return n < line.len && line.s[n] == '(' ? span_to(line, n) : span_to(line, 0);
}

/* "<0.000012>" at the end, in microseconds; false when -T was not given. */
static bool lasted(struct span line, decimal *out)
{
    size_t open = span_rchr(line, '<');

    return span_ends(line, ">") && open != SIZE_MAX &&
           decimal_parse(span_to(span_from(line, open + 1), line.len - open - 2), out) &&
           *out >= 0 && decimal_scale(out, 1000000);
}

/* Splits "PATH(FUNCTION+0xOFFSET) [0xADDRESS]"; a path with '(' is cut there. */
static bool split_frame(struct span line, struct located *l)
{
    size_t open, close = span_rchr(line, '['), plus;

    *l = (struct located){.line = 0};
    if (!span_ends(line, "]") || close == SIZE_MAX || !span_begins(span_from(line, close), "[0x"))
        return false;
    line = span_rtrim(span_to(line, close));
    open = span_chr(line, '(');
    if (span_ends(line, ")") && open != SIZE_MAX) {
        l->name = span_to(span_from(line, open + 1), line.len - open - 2);
        plus = span_rchr(l->name, '+');
        if (plus != SIZE_MAX && span_begins(span_from(l->name, plus), "+0x"))
            l->name = span_to(l->name, plus);
        line = span_to(line, open);
    }
    l->module = line;
    return true;
}

static bool is_frame(struct span line, struct span *rest)
{
    if (!span_begins(line, " > "))
        return false;
    *rest = span_trim(span_from(line, 3));
    return true;
}

static void end_call(struct strace *s)
{
    if (s->inside && s->has_stack && (s->count.whole || s->count.part) && !s->c->in.error) {
        if ((s->c->opt->pid || s->c->opt->tid) && s->pid.len)
            collapse_push(s->c, s->pid.buf, s->pid.len);
        collapse_flush(s->c, LEAF_FIRST, &s->count);
    }
    collapse_drop(s->c);
    s->inside = s->has_stack = false;
}

static void begin_call(struct strace *s, struct span line)
{
    struct span pid = take_pid(&line), name;
    decimal time = 0;

    end_call(s);
    line = behind_stamp(line);
    name = call_name(line);
    if (name.len == 0) {
        /* Signals and ends of processes have no stack of a call. */
        if (line.len && !span_begins(line, "---") && !span_begins(line, "+++") &&
            !span_begins(line, "strace: "))
            collapse_unknown(s->c, line.s, line.len);
        return;
    }
    s->count = (struct stackset_count){1, 0};
    if (s->timed) {
        lasted(span_rtrim(line), &time);
        s->count = decimal_count(time);
    }
    strbuf_clear(&s->pid);
    strbuf_add(&s->pid, pid.s, pid.len);
    collapse_push(s->c, name.s, name.len);
    s->inside = true;
}

void collapse_strace_run(struct collapse *c)
{
    static const char *const types[] = {"calls", "time"};
    struct span spans[] = {span_of(types[0]), span_of(types[1])};
    struct strace s = {.c = c, .pid = STRBUF_INIT};
    struct textrecord rec;
    struct located l;
    struct span rest;

    /* A reader knows only at the end whether there are times, so no warning can name them. */
    s.timed = collapse_pick_type(c, spans, c->opt->type ? 2 : 1, 0) == 1;
    while (!c->in.error && textinput_record(&c->in, &rec)) {
        if (!is_frame(rec.line, &rest)) {
            begin_call(&s, rec.line);
        } else if (!s.inside || !split_frame(rest, &l)) {
            collapse_unknown(c, rec.line.s, rec.line.len);
        } else {
            collapse_push_id(c, collapse_located(c, &l));
            s.has_stack = true;
        }
    }
    end_call(&s);
    strbuf_release(&s.pid);
}

int collapse_strace_probe(const char *text, size_t len)
{
    struct span all = {text, len}, line, rest;
    struct located l;
    bool call = false;

    while (span_line(&all, &line)) {
        if (call && is_frame(line, &rest) && split_frame(rest, &l))
            return 90;
        take_pid(&line);
        call = call_name(behind_stamp(line)).len > 0;
    }
    return 0;
}
