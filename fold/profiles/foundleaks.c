/*
 * Reports of leaks in text: LeakSanitizer's, also at the end of AddressSanitizer's, and those of
 * valgrind's memcheck (https://valgrind.org/docs/manual/mc-manual.html):
 *
 *     Direct leak of 56 byte(s) in 1 object(s) allocated from:
 *         #0 0x7f437b813545 in malloc /src/lsan_interceptors.cpp:75
 *         #1 0x55756ec3b146 in main (/usr/bin/app+0x1146) (BuildId: 12ab)
 *
 *     ==77== 280 (56 direct, 224 indirect) bytes in 1 blocks are definitely lost in loss record 3
 *     ==77==    at 0x48417B4: malloc (in /usr/libexec/valgrind/vgpreload_memcheck.so)
 *     ==77==    by 0x10916E: make_node (x.c:8)
 *
 * Such reports lie amid the program's own output in the same file, so lines outside them are
 * skipped; a warning counts lines inside them that are not understood.
 */
#include "fold/profiles/foundleaks.h"

#include "fold/collapse/located.h"
#include "fold/collapse/readers.h"

bool leaks_count_objects(struct collapse *c)
{
    const struct span types[] = {span_of("bytes"), span_of("objects")};

    /* Bytes are the usual count of leaks, so no warning names the other. */
    return collapse_pick_type(c, types, c->opt->type ? 2 : 1, 0) == 1;
}

void leak_end(struct collapse *c, struct leak *leak, bool objects)
{
    const struct stackset_count *count = objects ? &leak->objects : &leak->bytes;

    if (leak->kind && (count->whole || count->part) && !c->in.error) {
        collapse_push_str(c, leak->kind);
        collapse_flush(c, LEAF_FIRST, count);
    }
    collapse_drop(c);
    *leak = (struct leak){.kind = NULL};
}

bool leak_number(struct span *s, struct stackset_count *out)
{
    char digits[24];
    size_t n = 0, i = 0;

    for (; i < s->len && (is_digit_ch(s->s[i]) || s->s[i] == ','); i++)
        if (s->s[i] != ',') {
            if (n == sizeof digits)
                return false;
            digits[n++] = s->s[i];
        }
    if (!n || !stackset_count_parse(digits, n, out))
        return false;
    *s = span_from(*s, i);
    return true;
}

/* The form of one kind of report. */
struct report {
    bool (*line)(struct span *line); /* removes the report's prefix; false: the line is of no
                                        leak */
    bool (*head)(struct span line, struct leak *leak);
    bool (*frame)(struct span line, struct located *l);
};

static void read_report(struct collapse *c, const struct report *r)
{
    bool objects = leaks_count_objects(c);
    struct leak leak = {.kind = NULL}, next;
    struct textrecord rec;
    struct located l;

    while (!c->in.error && textinput_record(&c->in, &rec)) {
        struct span line = rec.line;

        if (!r->line(&line))
            continue;
        if (r->head(line, &next)) {
            leak_end(c, &leak, objects);
            leak = next;
        } else if (!leak.kind) {
            continue;
        } else if (line.len == 0) {
            leak_end(c, &leak, objects);
        } else if (r->frame(line, &l)) {
            collapse_push_id(c, collapse_located(c, &l));
        } else {
            collapse_unknown(c, rec.line.s, rec.line.len);
        }
    }
    leak_end(c, &leak, objects);
}

static bool take(struct span *s, const char *what)
{
    if (!span_begins(*s, what))
        return false;
    *s = span_from(*s, strlen(what));
    return true;
}

/* Takes " file.c:12" or " file.c:12:3" off the end of *s. */
static bool take_file(struct span *s, struct located *l)
{
    struct span rest = *s;
    struct stackset_count line = {0, 0};
    size_t blank, colon;

    for (int numbers = 0; numbers < 2; numbers++) {
        colon = span_rchr(rest, ':');
        if (colon == SIZE_MAX || colon + 1 == rest.len ||
            span_digits(span_from(rest, colon + 1)) + colon + 1 != rest.len)
            break;
        if (!stackset_count_parse(rest.s + colon + 1, rest.len - colon - 1, &line))
            return false;
        rest = span_to(rest, colon);
    }
    if (rest.len == s->len)
        return false;
    blank = span_rchr(rest, ' ');
    if (span_find(rest, " /")) /* a path may have blanks in it */
        blank = (size_t)(span_find(rest, " /") - rest.s);
    if (blank == SIZE_MAX)
        return false;
    l->file = span_from(rest, blank + 1);
    l->line = line.whole;
    *s = span_to(rest, blank);
    return true;
}

/* Takes " (/usr/lib/x.so+0x12)" off the end of *s, of which it may be all. */
static bool take_module(struct span *s, struct located *l)
{
    size_t open, plus = span_rchr(*s, '+');

    if (!span_ends(*s, ")") || plus == SIZE_MAX || !span_begins(span_from(*s, plus), "+0x"))
        return false;
    open = span_last_open(span_to(*s, plus));
    if (open == SIZE_MAX)
        return false;
    l->module = span_to(span_from(*s, open + 1), plus - open - 1);
    *s = span_rtrim(span_to(*s, open));
    return true;
}

/* ---- LeakSanitizer ---- */

static bool lsan_head(struct span line, struct leak *leak)
{
    struct leak l = {.kind = take(&line, "Direct leak of ")     ? "[direct leak]"
                             : take(&line, "Indirect leak of ") ? "[indirect leak]"
                                                                : NULL};

    if (!l.kind || !leak_number(&line, &l.bytes) || !take(&line, " byte(s) in ") ||
        !leak_number(&line, &l.objects) || !span_begins(line, " object(s) allocated from"))
        return false;
    *leak = l;
    return true;
}

/* Parses " #1 0x55756ec3b146 in main /src/x.c:29"; false when the line has another form. */
static bool lsan_frame(struct span line, struct located *l)
{
    const char *id = span_find(line, " (BuildId: ");
    struct span address;

    *l = (struct located){.line = 0};
    line = span_trim(id ? span_to(line, (size_t)(id - line.s)) : line);
    if (!take(&line, "#") || span_digits(line) == 0)
        return false;
    line = span_ltrim(span_from(line, span_digits(line)));
    if (!span_begins(line, "0x"))
        return false;
    address = span_next(&line);
    line = span_ltrim(line);
    if (take(&line, "in ")) {
        if (!take_module(&line, l))
            take_file(&line, l);
        l->name = line;
    } else if (!take_module(&line, l)) {
        l->name = address;
    }
    return true;
}

/* "<empty stack>" replaces the frames where none were recorded. */
static bool lsan_line(struct span *line)
{
    *line = span_trim(*line);
    return !span_is(*line, "<empty stack>");
}

void collapse_lsan_run(struct collapse *c)
{
    static const struct report lsan = {lsan_line, lsan_head, lsan_frame};

    read_report(c, &lsan);
}

int collapse_lsan_probe(const char *text, size_t len)
{
    struct span rest = {text, len}, line;
    struct leak leak;
    struct located l;
    bool inside = false;

    while (span_line(&rest, &line)) {
        if (inside && lsan_frame(line, &l))
            return 92;
        inside = lsan_head(span_trim(line), &leak);
    }
    return 0;
}

/* ---- memcheck ---- */

bool leak_of_memcheck(struct span line, struct leak *leak)
{
    static const struct {
        const char *said, *kind;
    } kinds[] = {{"definitely lost", "[definitely lost]"},
                 {"indirectly lost", "[indirectly lost]"},
                 {"possibly lost", "[possibly lost]"},
                 {"still reachable", "[still reachable]"}};
    struct leak l = {.kind = NULL};
    struct stackset_count indirect;

    if (!leak_number(&line, &l.bytes))
        return false;
    if (take(&line, " (") && (!leak_number(&line, &l.bytes) || !take(&line, " direct, ") ||
                              !leak_number(&line, &indirect) || !take(&line, " indirect)")))
        return false;
    if (!take(&line, " bytes in ") || !leak_number(&line, &l.objects) || !take(&line, " blocks "))
        return false;
    line = span_from(line, span_begins(line, "are ") ? 4 : 3); /* "is " and "are " */
    for (size_t i = 0; i < ARRAY_LEN(kinds); i++)
        if (span_begins(line, kinds[i].said))
            l.kind = kinds[i].kind;
    if (l.kind)
        *leak = l;
    return l.kind != NULL;
}

/* Takes "==77== " and "==00:00:01.5 77== " off; false when a line is not valgrind's. */
static bool behind_pid(struct span *line)
{
    size_t end;

    if (!take(line, "==") && !take(line, "**"))
        return false;
    for (end = 0; end < line->len && (is_digit_ch(line->s[end]) || line->s[end] == ' ' ||
                                      line->s[end] == ':' || line->s[end] == '.');)
        end++;
    *line = span_from(*line, end);
    return end > 0 && (take(line, "==") || take(line, "**"));
}

/* "   by 0x10916E: make_node (x.c:8)" */
static bool memcheck_frame(struct span line, struct located *l)
{
    struct span place;
    size_t hex, open;

    *l = (struct located){.line = 0};
    line = span_trim(line);
    if (!(take(&line, "at ") || take(&line, "by ")) || !take(&line, "0x"))
        return false;
    hex = span_hex(line);
    line = span_from(line, hex);
    if (hex == 0 || !take(&line, ": "))
        return false;
    open = span_ends(line, ")") ? span_last_open(line) : SIZE_MAX;
    l->name = open == SIZE_MAX ? line : span_rtrim(span_to(line, open));
    if (span_is(l->name, "???"))
        l->name.len = 0;
    if (open == SIZE_MAX)
        return true;
    place = span_to(span_from(line, open + 1), line.len - open - 2);
    if (take(&place, "in ")) {
        l->module = place;
    } else {
        size_t colon = span_rchr(place, ':');
        struct span number = span_from(place, colon == SIZE_MAX ? place.len : colon + 1);
        struct stackset_count n = {0, 0};

        if (stackset_count_parse(number.s, number.len, &n))
            l->line = n.whole;
        l->file = span_to(place, colon);
    }
    return true;
}

static bool memcheck_line(struct span *line)
{
    if (!behind_pid(line))
        return false;
    *line = span_trim(*line);
    return true;
}

void collapse_memcheck_run(struct collapse *c)
{
    static const struct report memcheck = {memcheck_line, leak_of_memcheck, memcheck_frame};

    read_report(c, &memcheck);
}

int collapse_memcheck_probe(const char *text, size_t len)
{
    struct span rest = {text, len}, line;
    struct leak leak;
    int sure = 0;

    while (span_line(&rest, &line)) {
        if (!memcheck_line(&line))
            continue;
        if (leak_of_memcheck(line, &leak))
            return 93;
        if (span_is(line, "Memcheck, a memory error detector"))
            sure = 80;
    }
    return sure;
}
