/*
 * Sorted stacks to folded lines.
 *
 * Two orders are wanted. Scripts that sort stacks put "a 9" before "a (b) 1"; sort
 * compares whole lines, where '(' comes before '9'. The two differ only where one
 * stack's text begins another's, the next
 * byte being a blank or less. So for the order of lines a stack's line waits as
 * long as the lines that come are less than it; once one is not, no later one
 * can be, as all that come are sorted by stack.
 *
 * Rejected: sorting the lines. They take ten times the memory of the stacks.
 */
#include <errno.h>
#include <stdlib.h>

#include "common/alloc.h"
#include "common/error.h"
#include "common/folded.h"
#include "common/outfile.h"
#include "fold/stacks/lostnames.h"
#include "fold/stacks/stackset.h"

struct waiting {
    struct strbuf *lines; /* sorted, the least at the end */
    size_t n, alloc;
};

static int compare(const struct strbuf *a, const struct strbuf *b)
{
    int c = memcmp(a->buf, b->buf, a->len < b->len ? a->len : b->len);

    return c ? c : (a->len > b->len) - (a->len < b->len);
}

static void drain(struct strbuf *out, FILE *f)
{
    if (out->len > 65536) {
        fwrite(out->buf, 1, out->len, f);
        strbuf_clear(out);
    }
}

static void put(struct strbuf *out, const struct strbuf *line, FILE *f)
{
    strbuf_add(out, line->buf, line->len);
    strbuf_addch(out, '\n');
    drain(out, f);
}

static void hold(struct waiting *w, struct strbuf *line)
{
    size_t at;

    GROW(w->lines, w->n, w->alloc);
    for (at = w->n; at > 0 && compare(&w->lines[at - 1], line) < 0; at--)
        w->lines[at] = w->lines[at - 1];
    w->lines[at] = *line;
    w->n++;
    *line = (struct strbuf)STRBUF_INIT;
}

static void release(struct waiting *w, const struct strbuf *before, struct strbuf *out, FILE *f)
{
    while (w->n > 0 && (!before || compare(&w->lines[w->n - 1], before) < 0)) {
        put(out, &w->lines[--w->n], f);
        strbuf_release(&w->lines[w->n]);
    }
}

/* Whether the text of stack `a` begins the next one's, followed by a blank or less. */
static bool may_go_behind(const struct stackset *st, const struct stackset_stack *a,
                          const struct stackset_stack *next)
{
    const char *s, *t;
    size_t n, m;

    if (a->n == 0 || next->n < a->n || memcmp(a->ids, next->ids, (a->n - 1) * sizeof *a->ids) != 0)
        return a->n == 0 && next->n > 0;
    s = stackset_text(st, a->ids[a->n - 1], &n);
    t = stackset_text(st, next->ids[a->n - 1], &m);
    return m > n && memcmp(s, t, n) == 0 && (unsigned char)t[n] <= ' ';
}

static void add_counts(const struct stackset_stack *s, bool two, struct strbuf *sb)
{
    strbuf_addch(sb, ' ');
    stackset_count_text(sb, &s->count);
    if (two) {
        strbuf_addch(sb, ' ');
        stackset_count_text(sb, &s->second);
    }
}

void stackset_write(struct stackset *st, enum stackset_sorting sort, FILE *f)
{
    struct stackset_line text = STACKSET_LINE_INIT;
    struct strbuf line = STRBUF_INIT, out = STRBUF_INIT;
    struct waiting w = {NULL, 0, 0};
    size_t n = stackset_len(st);
    bool two = stackset_two(st);

    stackset_sort(st);
    for (size_t i = 0; i < n; i++) {
        struct stackset_stack s, next;
        bool hold_it = false;

        stackset_get(st, i, &s);
        if (sort == BY_LINE && i + 1 < n) {
            stackset_get(st, i + 1, &next);
            hold_it = may_go_behind(st, &s, &next);
        }
        stackset_line_set(&text, st, i);
        if (w.n == 0 && !hold_it) {
            strbuf_add(&out, text.text.buf, text.text.len);
            add_counts(&s, two, &out);
            strbuf_addch(&out, '\n');
            drain(&out, f);
            continue;
        }
        strbuf_clear(&line);
        strbuf_add(&line, text.text.buf, text.text.len);
        add_counts(&s, two, &line);
        release(&w, &line, &out, f);
        /* What waits and is not less than this line stays behind it. */
        if (hold_it)
            hold(&w, &line);
        else
            put(&out, &line, f);
    }
    release(&w, NULL, &out, f);
    fwrite(out.buf, 1, out.len, f);
    strbuf_release(&out);
    strbuf_release(&line);
    stackset_line_release(&text);
    free(w.lines);
}

/* "# flame: left-out=12", "12,34" with two columns; nothing where both are 0. */
static void write_left_out(const struct stackset_count *left_out, bool two, FILE *f)
{
    struct strbuf sb = STRBUF_INIT;
    bool any = false;

    for (size_t i = 0; i < 2; i++)
        any |= left_out[i].whole || left_out[i].part;
    if (!any)
        return;
    strbuf_addstr(&sb, "# flame: " FOLDED_LEFT_OUT "=");
    stackset_count_text(&sb, &left_out[0]);
    if (two) {
        strbuf_addch(&sb, ',');
        stackset_count_text(&sb, &left_out[1]);
    }
    strbuf_addch(&sb, '\n');
    fwrite(sb.buf, 1, sb.len, f);
    strbuf_release(&sb);
}

static void write_lost(const struct lostnames *lost, FILE *f)
{
    struct strbuf sb = STRBUF_INIT;

    lostnames_add_lines(lost, &sb);
    fwrite(sb.buf, 1, sb.len, f);
    strbuf_release(&sb);
}

/* Counts stop there rather than start again at 0. */
static void tell_full(struct stackset *st)
{
    size_t full = 0;

    for (size_t i = 0; i < stackset_len(st); i++) {
        struct stackset_stack s;

        stackset_get(st, i, &s);
        full += s.count.whole == UINT64_MAX || s.second.whole == UINT64_MAX;
    }
    if (full)
        flame_warn("%zu count%s 2^64 and more, or nearly, and written as 2^64 - 1", full,
                   full == 1 ? " is" : "s are");
}

int stackset_write_file(struct stackset *st, const struct stackset_heading *heading,
                        enum stackset_sorting sort, const char *path)
{
    struct outfile out;
    int err = outfile_open(&out, path);

    if (!err) {
        if (heading->meta && *heading->meta)
            fprintf(out.f, "%s\n", heading->meta);
        if (heading->left_out)
            write_left_out(heading->left_out, stackset_two(st), out.f);
        if (heading->lost)
            write_lost(heading->lost, out.f);
        stackset_write(st, sort, out.f);
        err = outfile_commit(&out);
        tell_full(st);
    }
    return err ? flame_cannot_write(path, err) : FLAME_OK;
}
