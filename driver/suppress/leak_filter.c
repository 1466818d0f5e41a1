/*
 * A child finds the names (fold/fold_in_child.h), as they need debug information. For each row it
 * prints one line with the rule that matches and the stack's key in a baseline.
 *
 * The parent decides process by process, and then subtracts the same amounts from the sums over all
 * processes. There a stack is found again by the addresses of its code.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "common/alloc.h"
#include "common/error.h"
#include "common/files/outfile.h"
#include "common/trace/trace_identity.h"
#include "driver/suppress/leak_filter_impl.h"
#include "driver/suppress/leakframes.h"
#include "fold/fold_in_child.h"

#define LEAKS (TRACE_ROW_LEAKED | TRACE_ROW_LEAKED_BY_LEAK | TRACE_ROW_REGION)

/* ---- rows and their amounts ---- */

/* Whether a row is one of the leaks that are counted, and its amount. */
static bool is_leak(const struct leak_filter *h, const struct trace_row *row,
                    struct leak_filter_sum *sum)
{
    if (!trace_row_used(row) || row->flags & TRACE_ROW_INHERITED)
        return false;
    if (h->what == LEAK_FILTER_LIVE) {
        *sum = (struct leak_filter_sum){row->alloc_bytes - row->free_bytes,
                                        row->alloc_calls - row->free_calls};
        return trace_row_counts(row) && (sum->bytes || sum->blocks);
    }
    *sum = (struct leak_filter_sum){row->alloc_bytes, row->alloc_calls};
    return row->flags & (h->what == LEAK_FILTER_GROWTH ? TRACE_ROW_GROWTH : LEAKS) && sum->blocks;
}

/* The traces' arrays are in this process's own memory, so rows can be emptied. */
static void empty(const struct leak_filter *h, const struct trace *t, uint32_t id,
                  struct leak_filter_sum by)
{
    struct trace_row *row = (struct trace_row *)&t->rows[id];

    if (h->what == LEAK_FILTER_LIVE) {
        row->free_bytes += by.bytes;
        row->free_calls += by.blocks;
    } else {
        row->alloc_bytes -= by.bytes;
        row->alloc_calls -= by.blocks;
    }
}

static struct taken_out *find_taken_out(struct leak_filter *h, const struct trace *t,
                                        const struct trace_row *row, bool make)
{
    struct taken_out_key key = {.stack = trace_stack_identity(t, row->node),
                                .flags = row->flags & (LEAKS | TRACE_ROW_GROWTH)};
    struct taken_out *found;

    HASH_FIND(hh, h->taken_out, &key, sizeof key, found);
    if (found || !make)
        return found;
    found = xcalloc(1, sizeof *found);
    found->key = key;
    HASH_ADD(hh, h->taken_out, key, sizeof found->key, found);
    return found;
}

/* Subtracts an amount from a row's count, and adds it to the amount for the sums. */
static void take_from(struct leak_filter *h, const struct trace *t, uint32_t id,
                      struct leak_filter_sum by)
{
    const struct trace_row *row = &t->rows[id];

    if (h->what != LEAK_FILTER_LIVE)
        leak_filter_add(&find_taken_out(h, t, row, true)->left, by.bytes, by.blocks);
    empty(h, t, id, by);
}

/* Subtracts from the row of the sums the amount that was subtracted from the processes' rows. */
static void take_from_sums(struct leak_filter *h, const struct trace *t, uint32_t id)
{
    struct leak_filter_sum has, by;
    struct taken_out *out;

    if (!is_leak(h, &t->rows[id], &has))
        return;
    out = find_taken_out(h, t, &t->rows[id], false);
    if (!out)
        return;
    by.bytes = out->left.bytes < has.bytes ? out->left.bytes : has.bytes;
    by.blocks = out->left.blocks < has.blocks ? out->left.blocks : has.blocks;
    out->left.bytes -= by.bytes;
    out->left.blocks -= by.blocks;
    empty(h, t, id, by);
}

/* ---- in the child ---- */

static struct leak_filter *asked_for; /* the filter that fold_in_child works for */

static enum suppress_kind kind_of(const struct trace_row *row)
{
    return row->flags & (TRACE_ROW_LEAKED | TRACE_ROW_REGION) ? SUPPRESS_DEFINITE
           : row->flags & TRACE_ROW_LEAKED_BY_LEAK            ? SUPPRESS_INDIRECT
                                                              : SUPPRESS_OTHER;
}

/* Reports rows as "TRACE ROW RULE KEY"; RULE is the number of rules if none matches. */
static void print_rows(struct leak_filter *h, const struct trace *t, size_t number,
                       struct symbols *syms, struct strbuf *sb)
{
    struct leakframes *f = leakframes_new(t, syms);
    bool keys = h->known || h->now;

    for (uint32_t id = 0; id < t->row_limit; id++) {
        const struct trace_row *row = &t->rows[id];
        struct suppress_frame **stack;
        struct leak_filter_sum sum;
        size_t n, rule;

        if (!is_leak(h, row, &sum))
            continue;
        stack = leakframes_of(f, row->node, &n);
        rule = suppressions_match(h->rules, stack, n, kind_of(row));
        if (rule == SUPPRESS_NONE)
            rule = suppressions_count(h->rules);
        strbuf_addf(sb, "%zu %" PRIu32 " %zu ", number, id, rule);
        if (keys)
            leakframes_add_key(f, row->node, sb);
        strbuf_addch(sb, '\n');
    }
    leakframes_free(f);
}

/* A guarded_work. All debug information is read before the text goes out. */
static int print_all(const struct fold_options *opt, struct trace *const *traces, size_t ntraces,
                     aggregate_sink sink, void *opaque)
{
    struct symbols *syms = symbols_new(&opt->symbols);
    struct strbuf sb = STRBUF_INIT;

    for (size_t i = 0; i < ntraces; i++)
        print_rows(asked_for, traces[i], i, syms, &sb);
    suppressions_print_matched(asked_for->rules, &sb);
    symbols_free(syms);
    sink(opaque, sb.buf, sb.len);
    strbuf_release(&sb);
    return 0;
}

/* ---- here ---- */

struct reported {
    size_t trace, rule;
    uint32_t row;
    const char *key;
    size_t len;
};

/* True: *told is the report of a row. */
static bool parse_report(struct leak_filter *h, struct trace *const *traces, size_t ntraces,
                         char *line, size_t len, struct reported *reported)
{
    int at = 0;

    if (suppressions_take_matched(h->rules, line))
        return false;
    if (sscanf(line, "%zu %" SCNu32 " %zu %n", &reported->trace, &reported->row, &reported->rule,
               &at) != 3)
        return false;
    reported->key = line + at;
    reported->len = len - (size_t)at;
    return reported->trace < ntraces && reported->row < traces[reported->trace]->row_limit &&
           reported->rule <= suppressions_count(h->rules);
}

static void suppress(struct leak_filter *h, const struct trace *t, uint32_t id,
                     struct suppression *by)
{
    struct leak_filter_sum sum;

    if (!is_leak(h, &t->rows[id], &sum))
        return;
    by->bytes += sum.bytes;
    by->blocks += sum.blocks;
    take_from(h, t, id, sum);
}

/*
 * Suppresses indirect leaks when all definite leaks of a process are suppressed: no leak that
 * counts leads to them. They are added to the rule of the largest definite leak.
 */
static void suppress_what_is_left(struct leak_filter *h, const struct trace *t,
                                  struct suppression *by)
{
    for (uint32_t id = 0; by && id < t->row_limit; id++)
        if (t->rows[id].flags & TRACE_ROW_LEAKED && t->rows[id].alloc_calls)
            return;
    for (uint32_t id = 0; by && id < t->row_limit; id++)
        if (t->rows[id].flags & TRACE_ROW_LEAKED_BY_LEAK)
            suppress(h, t, id, by);
}

static void suppress_all(struct leak_filter *h, struct trace *const *traces, size_t ntraces,
                         const struct reported *reported, size_t n)
{
    size_t i = 0;

    for (size_t trace = 0; trace < ntraces; trace++) {
        const struct trace *t = traces[trace];
        struct suppression *largest = NULL;
        uint64_t most = 0;

        for (; i < n && reported[i].trace == trace; i++) {
            const struct trace_row *row = &t->rows[reported[i].row];
            uint64_t bytes = row->alloc_bytes;
            struct suppression *by;

            if (reported[i].rule == suppressions_count(h->rules))
                continue;
            by = suppressions_at(h->rules, reported[i].rule);
            if (row->flags & TRACE_ROW_LEAKED && (!largest || bytes > most)) {
                largest = by;
                most = bytes;
            }
            suppress(h, t, reported[i].row, by);
        }
        suppress_what_is_left(h, t, largest);
    }
}

/* The number of blocks that go with `bytes` of a grown stack's `of` bytes; at least one block
 * remains. */
static uint64_t share(uint64_t blocks, uint64_t bytes, uint64_t of)
{
    uint64_t part = (uint64_t)((long double)blocks * (long double)bytes / (long double)of + 0.5L);

    return part < blocks ? part : blocks - 1;
}

static void compare(struct leak_filter *h, const struct trace *t, const struct reported *reported)
{
    struct leak_filter_sum sum;
    uint64_t *left;

    if (!is_leak(h, &t->rows[reported->row], &sum))
        return;
    if (h->now)
        baseline_add(h->now, reported->key, reported->len, sum.bytes);
    left = h->known ? baseline_find(h->known, reported->key, reported->len) : NULL;
    if (!left && (h->known || !h->now))
        return;
    if (left && *left < sum.bytes) {
        sum.blocks = share(sum.blocks, *left, sum.bytes);
        sum.bytes = *left;
    }
    if (left)
        *left -= sum.bytes;
    take_from(h, t, reported->row, sum);
    leak_filter_add(&h->in_baseline, sum.bytes, sum.blocks);
}

static int write_baseline(struct leak_filter *h)
{
    const char *path = h->o->write_baseline;
    struct strbuf text = STRBUF_INIT;
    struct outfile out;
    int err;

    if (!path)
        return 0;
    baseline_text(h->now, leak_filter_view(h), &text);
    err = outfile_open(&out, path);
    if (!err) {
        fwrite(text.buf, 1, text.len, out.f);
        err = outfile_commit(&out);
    }
    strbuf_release(&text);
    return err ? flame_cannot_write(path, err) : 0;
}

static struct reported *read_report(struct leak_filter *h, struct trace *const *traces,
                                    size_t ntraces, struct strbuf *text, size_t *n)
{
    struct reported *reported = NULL;
    size_t room = 0;

    *n = 0;
    for (char *s = text->buf, *nl; (nl = memchr(s, '\n', text->len - (size_t)(s - text->buf)));
         s = nl + 1) {
        *nl = '\0';
        GROW(reported, *n, room);
        *n += parse_report(h, traces, ntraces, s, (size_t)(nl - s), &reported[*n]);
    }
    return reported;
}

/* False if no row can be suppressed, as most runs have no leak and finding names takes time. */
static bool has_work(const struct leak_filter *h, struct trace *const *traces, size_t n)
{
    struct leak_filter_sum sum;

    if (!suppressions_count(h->rules) && !h->known && !h->now)
        return false;
    for (size_t i = 0; i < n; i++)
        for (uint32_t id = 0; id < traces[i]->row_limit; id++)
            if (is_leak(h, &traces[i]->rows[id], &sum))
                return true;
    return false;
}

static void apply(struct leak_filter *h, const struct leak_filter_traces *in, struct strbuf *text)
{
    struct trace *const *traces = h->what == LEAK_FILTER_LIVE ? in->sums : in->each;
    size_t ntraces = h->what == LEAK_FILTER_LIVE ? in->nsums : in->neach, n;
    struct reported *reported = read_report(h, traces, ntraces, text, &n);

    suppress_all(h, traces, ntraces, reported, n);
    for (size_t i = 0; i < n; i++)
        compare(h, traces[reported[i].trace], &reported[i]);
    for (size_t i = 0; i < in->nsums && h->taken_out; i++)
        for (uint32_t id = 0; id < in->sums[i]->row_limit; id++)
            take_from_sums(h, in->sums[i], id);
    free(reported);
}

int leak_filter_apply(struct leak_filter *h, const struct leak_filter_traces *in)
{
    struct trace *const *traces = h->what == LEAK_FILTER_LIVE ? in->sums : in->each;
    size_t ntraces = h->what == LEAK_FILTER_LIVE ? in->nsums : in->neach;
    struct fold_options opt = {.symbols.lines = true};
    struct strbuf text = STRBUF_INIT;
    int status = 0;

    if (has_work(h, traces, ntraces)) {
        asked_for = h;
        status = fold_in_child(&opt, traces, ntraces, aggregate_to_strbuf, &text, print_all);
    }
    if (!status) {
        apply(h, in, &text);
        status = write_baseline(h);
    }
    strbuf_release(&text);
    return status;
}
