/*
 * The gate: sums of both columns, for all stacks and for each frame.
 *
 * A frame's sum takes each stack once, however often the frame is in it, so that recursion does
 * not inflate it. For that, each frame has the number of the last stack in which it was seen.
 *
 * Rejected: percent of each frame's own count. A frame with two samples in one run and four in
 * the next has doubled and means nothing; a gate that fails for it is switched off within a
 * week. A user who wants one frame watched names it.
 */
#define _GNU_SOURCE
#include "fold/stacks/diff_gate.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/alloc.h"

enum { NAMED = 10 };

struct sums {
    double a, b;
};

struct grown {
    size_t stack;
    double by;
};

bool diff_gate_parse(struct diff_gate *g, const char *text, struct strbuf *why)
{
    char *end;

    *g = (struct diff_gate){0};
    if ((*text >= '0' && *text <= '9') || *text == '.') {
        g->percent = strtod(text, &end);
        if (isfinite(g->percent) && strcmp(end, "%") == 0)
            return true;
        if (isfinite(g->percent) && strncmp(end, "%:", 2) == 0 && end[2]) {
            strbuf_addstr(why, "no regular expression behind ':': ");
            g->frame = pattern_new(end + 2, why);
            return g->frame != NULL;
        }
    }
    strbuf_addstr(why, "expected a number and '%', as in 5% or 5%:^read");
    return false;
}

void diff_gate_release(struct diff_gate *g)
{
    pattern_free(g->frame);
    g->frame = NULL;
}

static double number(const struct stackset_count *c)
{
    return (double)stackset_count_number(c);
}

static bool too_much(const struct diff_gate *g, struct sums s, double whole)
{
    return s.b - s.a > whole * g->percent / 100;
}

/* Whether a name matches, cached by name in `known`: -1 not yet tested. */
static bool matches(const struct diff_gate *g, const struct stackset *st, signed char *known,
                    uint32_t id)
{
    if (known[id] < 0) {
        size_t len;
        const char *s = stackset_text(st, id, &len);

        /* An expression that failed to match within its limits counts as a match, so that the
           gate stays strict. */
        known[id] = pattern_matches(g->frame, s, len) != 0;
    }
    return known[id];
}

static int by_growth(const void *pa, const void *pb)
{
    const struct grown *a = pa, *b = pb;

    if (a->by != b->by)
        return a->by > b->by ? -1 : 1;
    return (a->stack > b->stack) - (a->stack < b->stack);
}

static void say_growth(struct strbuf *report, struct sums s)
{
    strbuf_addf(report, ": %.15g before, %.15g after", s.a, s.b);
    if (s.a > 0)
        strbuf_addf(report, " (%+.1f%%)", (s.b - s.a) / s.a * 100);
    strbuf_addch(report, '\n');
}

/* The stacks that grew most, among those that hold `frame` (any if UINT32_MAX) and are watched. */
static void name_stacks(const struct stackset *st, const unsigned char *watched, uint32_t frame,
                        struct strbuf *report)
{
    size_t n = stackset_len(st), ngrown = 0;
    struct grown *grown = xcalloc(n, sizeof *grown);
    struct stackset_line line = STACKSET_LINE_INIT;
    struct stackset_stack s;

    for (size_t i = 0; i < n; i++) {
        bool has = frame == UINT32_MAX;

        if (!watched[i])
            continue;
        stackset_get(st, i, &s);
        for (size_t k = 0; k < s.n && !has; k++)
            has = s.ids[k] == frame;
        if (has && number(&s.second) > number(&s.count))
            grown[ngrown++] = (struct grown){i, number(&s.second) - number(&s.count)};
    }
    qsort(grown, ngrown, sizeof *grown, by_growth);
    for (size_t i = 0; i < ngrown && i < NAMED; i++) {
        stackset_get(st, grown[i].stack, &s);
        stackset_line_set(&line, st, grown[i].stack);
        strbuf_addstr(report, "  ");
        strbuf_add(report, line.text.buf, line.text.len);
        say_growth(report, (struct sums){number(&s.count), number(&s.second)});
    }
    if (ngrown > NAMED)
        strbuf_addf(report, "  and %zu more\n", ngrown - NAMED);
    stackset_line_release(&line);
    free(grown);
}

static bool check_frames(const struct diff_gate *g, const struct stackset *st,
                         const struct sums *frames, const unsigned char *watched, double whole,
                         struct strbuf *report)
{
    size_t n = stackset_names(st), worst = n;

    for (size_t i = 0; i < n; i++)
        if (too_much(g, frames[i], whole) &&
            (worst == n || frames[i].b - frames[i].a > frames[worst].b - frames[worst].a))
            worst = i;
    if (worst == n)
        return true;
    {
        size_t len;
        const char *s = stackset_text(st, (uint32_t)worst, &len);

        strbuf_add(report, s, len);
        strbuf_addstr(report, " and what it calls grew");
        say_growth(report, frames[worst]);
    }
    name_stacks(st, watched, (uint32_t)worst, report);
    return false;
}

/* "[libc.so.6+0x1f]": a place without a name. "[libc.so.6+0x...]" is one that was stripped. */
static bool is_offset(const char *s, size_t len)
{
    const char *plus;

    if (len < 6 || s[0] != '[' || s[len - 1] != ']')
        return false;
    plus = memrchr(s, '+', len);
    return plus && memcmp(plus, "+0x", 3) == 0 && isxdigit((unsigned char)plus[3]);
}

/* Compared stacks: their number and sums. */
struct compared {
    size_t n;
    struct sums sums;
};

static void compare_more(struct compared *c, const struct stackset_stack *s)
{
    c->n++;
    c->sums.a += number(&s->count);
    c->sums.b += number(&s->second);
}

/* Which columns a name occurs in. */
enum { BEFORE = 1, AFTER = 2, BOTH = 3 };

static unsigned char *find_columns(const struct stackset *st)
{
    unsigned char *columns = xcalloc(stackset_names(st), 1);
    struct stackset_stack s;

    for (size_t i = 0; i < stackset_len(st); i++) {
        stackset_get(st, i, &s);
        for (size_t k = 0; k < s.n; k++)
            columns[s.ids[k]] |=
                (number(&s.count) != 0 ? BEFORE : 0) | (number(&s.second) != 0 ? AFTER : 0);
    }
    return columns;
}

/* An offset that both columns have is one of a file that was not built again. */
static bool is_moved(const struct stackset *st, const unsigned char *columns, uint32_t id)
{
    size_t len;
    const char *name = stackset_text(st, id, &len);

    return columns[id] != BOTH && is_offset(name, len);
}

void diff_gate_say(const struct diff_gate *g, const struct stackset *st, struct strbuf *report)
{
    size_t nnames = stackset_names(st);
    signed char *known = xmalloc(nnames);
    unsigned char *columns = find_columns(st);
    struct compared all = {0}, moved = {0};

    memset(known, -1, nnames);
    for (size_t i = 0; i < stackset_len(st); i++) {
        bool watched = !g->frame, has_moved = false;
        struct stackset_stack s;

        stackset_get(st, i, &s);
        for (size_t k = 0; k < s.n; k++) {
            has_moved = has_moved || is_moved(st, columns, s.ids[k]);
            watched = watched || matches(g, st, known, s.ids[k]);
        }
        if (watched)
            compare_more(&all, &s);
        if (watched && has_moved)
            compare_more(&moved, &s);
    }
    strbuf_addf(report, "compared %zu stack%s%s", all.n, all.n == 1 ? "" : "s",
                g->frame ? " with such a frame" : "");
    say_growth(report, all.sums);
    if (moved.n) {
        strbuf_addf(report,
                    "%zu of them with offsets for names that one side lacks, as after a rebuild",
                    moved.n);
        say_growth(report, moved.sums);
    }
    free(columns);
    free(known);
}

bool diff_gate_watches(const struct diff_gate *g, const struct stackset *st)
{
    size_t nnames = stackset_names(st);
    signed char *known = xmalloc(nnames);
    bool watches = false;

    memset(known, -1, nnames);
    for (size_t i = 0; i < stackset_len(st) && !watches; i++) {
        struct stackset_stack s;

        stackset_get(st, i, &s);
        watches = !g->frame;
        for (size_t k = 0; k < s.n && !watches; k++)
            watches = matches(g, st, known, s.ids[k]);
    }
    free(known);
    return watches;
}

bool diff_gate_pass(const struct diff_gate *g, const struct stackset *st, struct strbuf *report)
{
    size_t n = stackset_len(st), nnames = stackset_names(st);
    struct sums *frames = xcalloc(nnames, sizeof *frames), all = {0, 0};
    uint32_t *seen = xcalloc(nnames, sizeof *seen);
    signed char *known = xmalloc(nnames);
    unsigned char *watched = xcalloc(n, 1);
    bool pass = true;

    memset(known, -1, nnames);
    for (size_t i = 0; i < n; i++) {
        struct stackset_stack s;
        struct sums v;

        stackset_get(st, i, &s);
        v = (struct sums){number(&s.count), number(&s.second)};
        watched[i] = !g->frame;
        for (size_t k = 0; k < s.n; k++) {
            uint32_t id = s.ids[k];

            if (g->frame) {
                watched[i] |= matches(g, st, known, id);
            } else if (seen[id] != i + 1) {
                seen[id] = (uint32_t)(i + 1);
                frames[id].a += v.a;
                frames[id].b += v.b;
            }
        }
        if (watched[i]) {
            all.a += v.a;
            all.b += v.b;
        }
    }
    if (too_much(g, all, all.a)) {
        pass = false;
        strbuf_addstr(report, g->frame ? "the stacks watched grew" : "the whole grew");
        say_growth(report, all);
        name_stacks(st, watched, UINT32_MAX, report);
    } else if (!g->frame) {
        pass = check_frames(g, st, frames, watched, all.a, report);
    }
    free(frames);
    free(seen);
    free(known);
    free(watched);
    return pass;
}
