#include "fold/collapse/perfheader.h"

#include <string.h>

bool perf_header_comm(struct span line, struct span *comm, struct span *pid, struct span *tid)
{
    for (size_t i = 1; i < line.len; i++) {
        struct span rest;

        if (!is_blank_ch(line.s[i]))
            continue;
        rest = span_ltrim(span_from(line, i));
        *comm = span_to(line, i);
        *pid = span_to(rest, span_digits(rest));
        i = (size_t)(rest.s - line.s) - 1;
        if (pid->len == 0)
            continue;
        rest = span_from(rest, pid->len);
        *tid = span_to(rest, 0);
        if (rest.len && rest.s[0] == '/') {
            while (rest.len && rest.s[0] == '/')
                rest = span_from(rest, 1);
            *tid = span_to(rest, span_digits(rest));
            rest = span_from(rest, tid->len);
        }
        if (rest.len && is_blank_ch(rest.s[0]))
            return true;
    }
    return false;
}

/* ": PERIOD EVENT:" at the end of the line, PERIOD optional. */
static bool event_at_end(struct span line, struct span *period, struct span *event)
{
    size_t i;

    line = span_rtrim(line);
    if (!span_ends(line, ":"))
        return false;
    line.len--;
    for (i = line.len; i > 0 && !is_blank_ch(line.s[i - 1]); i--)
        continue;
    *event = span_from(line, i);
    line.len = i;
    line = span_rtrim(line);
    if (event->len == 0 || line.len == i)
        return false;
    for (i = line.len; i > 0 && is_digit_ch(line.s[i - 1]); i--)
        continue;
    *period = span_from(line, i);
    line.len = i;
    return span_ends(span_rtrim(line), ":");
}

bool perf_header_parse_perl(struct span line, struct perf_header *h)
{
    struct span period, event;

    *h = (struct perf_header){.comm = {"", 0}};
    if (!perf_header_comm(line, &h->comm, &h->pid, &h->tid))
        return false;
    if (event_at_end(line, &period, &event)) {
        h->period = period;
        h->event = event;
    }
    return true;
}

/* "10.000100:" */
static bool is_time(struct span word)
{
    size_t n = span_digits(word);

    if (!n || n >= word.len || word.s[n] != '.')
        return false;
    word = span_from(word, n + 1);
    n = span_digits(word);
    return n && n + 1 == word.len && word.s[n] == ':';
}

/* "101", "101/102" and "-1". */
static bool is_number(struct span word, struct span *pid, struct span *tid)
{
    size_t n;

    if (span_is(word, "-1"))
        word = span_from(word, 1);
    n = span_digits(word);
    *pid = span_to(word, n);
    *tid = span_to(word, 0);
    word = span_from(word, n);
    if (n && word.len && word.s[0] == '/') {
        *tid = span_from(word, 1);
        word = span_from(*tid, span_digits(*tid));
    }
    return n && !word.len;
}

/* Takes the last word off. */
static struct span take_last(struct span *text)
{
    struct span all = span_rtrim(*text);
    size_t i;

    for (i = all.len; i > 0 && !is_blank_ch(all.s[i - 1]); i--)
        continue;
    *text = span_rtrim(span_to(all, i));
    return span_from(all, i);
}

/* "[003]" */
static bool is_cpu(struct span word)
{
    return word.len > 2 && word.s[0] == '[' && span_digits(span_from(word, 1)) + 2 == word.len &&
           word.s[word.len - 1] == ']';
}

/* Whether a word may be the processor's state, as perf prints it with -F +misc: a few letters. */
static bool is_misc(struct span word)
{
    if (word.len > 4)
        return false;
    for (size_t i = 0; i < word.len; i++)
        if (!((word.s[i] | 0x20) >= 'a' && (word.s[i] | 0x20) <= 'z'))
            return false;
    return true;
}

/* Splits "COMM PID/TID [CPU] MISC", any of which may be missing. */
static void take_who(struct span text, struct perf_header *h)
{
    struct span before = text, word = take_last(&before), under = before,
                behind = take_last(&under), pid, tid;

    if (is_misc(word) && (is_cpu(behind) || is_number(behind, &pid, &tid))) {
        text = before;
        before = under;
        word = behind;
    }
    if (is_cpu(word)) {
        text = before;
        word = take_last(&before);
    }
    if (is_number(word, &h->pid, &h->tid))
        text = before;
    else
        h->pid = h->tid = (struct span){"", 0};
    h->comm = span_trim(text);
}

/* "PERIOD EVENT: REST" */
static void take_event(struct span text, struct perf_header *h)
{
    struct span rest = text, word = span_next(&rest);

    if (word.len && span_digits(word) == word.len) {
        h->period = word;
        word = span_next(&rest);
    }
    if (word.len > 1 && span_ends(word, ":")) {
        h->event = span_to(word, word.len - 1);
        h->rest = span_trim(rest);
    } else {
        h->period = (struct span){"", 0};
        h->rest = span_trim(text);
    }
}

bool perf_header_parse(struct span line, struct perf_header *h)
{
    struct span rest = line, word;

    *h = (struct perf_header){.comm = {"", 0}};
    while ((word = span_next(&rest)).len)
        if (word.s[word.len - 1] == ':' && is_time(word)) {
            take_who(span_to(line, (size_t)(word.s - line.s)), h);
            h->timed = true;
            take_event(rest, h);
            return true;
        }
    return !(line.len && is_blank_ch(line.s[0])) && perf_header_parse_perl(line, h);
}

/* Cuts "cpu_core/cycles/P" to "cycles". False: the event has no such name. */
static bool name_within(struct span *event)
{
    struct span rest;
    size_t end;

    if (!span_begins(*event, "cpu_core/") && !span_begins(*event, "cpu_atom/"))
        return false;
    rest = span_from(*event, strlen("cpu_core/"));
    end = span_chr(rest, '/');
    if (end == SIZE_MAX)
        return false;
    *event = span_to(rest, end);
    return true;
}

bool perf_header_is_event(struct span event, struct span wanted)
{
    if (event.len == wanted.len && memcmp(event.s, wanted.s, event.len) == 0)
        return true;
    return name_within(&event) && event.len == wanted.len &&
           memcmp(event.s, wanted.s, event.len) == 0;
}
