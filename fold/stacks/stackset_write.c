/* Sorted stacks to folded lines; orderedlines.c has the order of lines. */
#include <errno.h>
#include <stdlib.h>

#include "common/alloc.h"
#include "common/error.h"
#include "common/folded.h"
#include "common/files/outfile.h"
#include "fold/stacks/missing_symbols.h"
#include "fold/stacks/orderedlines.h"
#include "fold/stacks/stackset.h"

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

void stackset_write(struct stackset *st, enum stackset_sorting sort, FILE *f)
{
    struct stackset_line text = STACKSET_LINE_INIT;
    struct orderedlines out;
    size_t n = stackset_len(st);

    orderedlines_init(&out, f, stackset_two(st));
    stackset_sort(st);
    for (size_t i = 0; i < n; i++) {
        struct stackset_stack s, next;
        bool wait = false;

        stackset_get(st, i, &s);
        if (sort == BY_LINE && i + 1 < n) {
            stackset_get(st, i + 1, &next);
            wait = may_go_behind(st, &s, &next);
        }
        stackset_line_set(&text, st, i);
        orderedlines_add(&out, &text.text, &s.count, &s.second, wait);
    }
    orderedlines_finish(&out);
    stackset_line_release(&text);
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

static void write_lost(const struct missing_symbols *lost, FILE *f)
{
    struct strbuf sb = STRBUF_INIT;

    missing_symbols_add_lines(lost, &sb);
    fwrite(sb.buf, 1, sb.len, f);
    strbuf_release(&sb);
}

void stackset_heading_write(const struct stackset_heading *heading, bool two, FILE *f)
{
    if (heading->meta && *heading->meta)
        fprintf(f, "%s\n", heading->meta);
    if (heading->modules)
        fputs("# flame: " FOLDED_MODULES "=" FOLDED_MODULES_PREFIX "\n", f);
    if (heading->left_out)
        write_left_out(heading->left_out, two, f);
    if (heading->lost)
        write_lost(heading->lost, f);
}

void stackset_report_full(size_t full)
{
    if (full)
        flame_warn("%zu count%s 2^64 and more, or nearly, and written as 2^64 - 1", full,
                   full == 1 ? " is" : "s are");
}

static size_t count_full(struct stackset *st)
{
    size_t full = 0;

    for (size_t i = 0; i < stackset_len(st); i++) {
        struct stackset_stack s;

        stackset_get(st, i, &s);
        full += s.count.whole == UINT64_MAX || s.second.whole == UINT64_MAX;
    }
    return full;
}

int stackset_write_file(struct stackset *st, const struct stackset_heading *heading,
                        enum stackset_sorting sort, const char *path)
{
    struct outfile out;
    int err = outfile_open(&out, path);

    if (!err) {
        stackset_heading_write(heading, stackset_two(st), out.f);
        stackset_write(st, sort, out.f);
        err = outfile_commit(&out);
        stackset_report_full(count_full(st));
    }
    return err ? flame_cannot_write(path, err) : FLAME_OK;
}
