/*
 * Folded text itself, to add up the stacks of several files.
 *
 * Problem: a million lines of a kilobyte each, often sorted. The part that a line shares with
 * the line before is found by comparing bytes, and only the frames after that are looked up.
 * Names are not changed: a file folded again must come out unchanged.
 *
 * Files that are added up or compared hold mostly the same stacks in the same order. So the
 * stack that followed the last line's stack in the file before is tried first, by its text,
 * without any lookup.
 *
 * Rejected: sscanf-like splitting of every line; it is five times slower where lines are sorted,
 * and they mostly are.
 */
#include <stdlib.h>

#include "common/alloc.h"
#include "common/error.h"
#include "common/folded.h"
#include "fold/collapse/readers.h"
#include "fold/stacks/span.h"

/* The line before: its text, and where its frames end in it. */
struct before {
    struct strbuf text;
    size_t *ends;
    size_t alloc;
    uint32_t stack; /* the last line's; not a stack's number before the first */
    bool found;     /* as one that came after the line before */
    struct stackset_line next;
};

static size_t common_prefix(const char *a, const char *b, size_t n)
{
    size_t i = 0;

    for (; i + 8 <= n; i += 8) {
        uint64_t x, y;

        memcpy(&x, a + i, 8);
        memcpy(&y, b + i, 8);
        if (x != y)
            break;
    }
    while (i < n && a[i] == b[i])
        i++;
    return i;
}

static void push_frames(struct collapse *c, struct before *b, const char *s, size_t len)
{
    size_t same = common_prefix(s, b->text.buf, len < b->text.len ? len : b->text.len);
    uint32_t ids[STACKSET_SPLIT];
    size_t ends[STACKSET_SPLIT], from, n;

    /* A frame is shared if it ends in ';' in both. */
    while (c->n > 0 && (b->ends[c->n - 1] >= same))
        c->n--;
    from = c->n ? b->ends[c->n - 1] + 1 : 0;
    strbuf_setlen(&b->text, from);
    strbuf_add(&b->text, s + from, len - from);
    do {
        n = stackset_split(c->stacks, s + from, len - from, ids, ends);
        GROW_TO(b->ends, c->n + n, b->alloc);
        for (size_t i = 0; i < n; i++) {
            b->ends[c->n] = from + ends[i];
            collapse_push_id(c, ids[i]);
        }
        from += ends[n - 1] + 1;
    } while (from <= len);
}

/* Exact where folded_parse_line rounds: takes the count's text. */
static struct stackset_count exact(const char *text, size_t len, struct folded_count seen)
{
    struct stackset_count c = {seen.whole, 0};

    if (seen.part > 0)
        stackset_count_parse(text, len, &c);
    return c;
}

/* "# flame: left-out=12" or "left-out=12,34". False: not such a line. */
static bool take_left_out(struct collapse *c, struct span line)
{
    struct stackset_count count;
    struct span value, part;
    size_t column = c->column > 0;

    if (!folded_find_meta(line.s, line.len, FOLDED_LEFT_OUT, &value.s, &value.len))
        return false;
    for (; c->left_out && column < 2 && value.len; column++) {
        part = span_to(value, span_chr(value, ','));
        value = span_from(value, part.len + 1);
        /* Two columns make no one. */
        if (!stackset_count_parse(part.s, part.len, &count) || (c->column >= 0 && value.len))
            break;
        c->has_left_out = true;
        stackset_count_add(&c->left_out[column], &count);
    }
    return true;
}

/* "# flame: names-lost=app:1f2e". False: not such a line. */
static bool take_lost(struct collapse *c, struct span line)
{
    struct span value;

    if (!folded_find_meta(line.s, line.len, LOSTNAMES_KEY, &value.s, &value.len))
        return false;
    if (c->lost)
        missing_symbols_add(c->lost, value.s, value.len);
    return true;
}

/* "# flame: modules=prefix". False: not such a line. */
static bool take_modules(struct collapse *c, struct span line)
{
    struct span value;

    if (!folded_find_meta(line.s, line.len, FOLDED_MODULES, &value.s, &value.len))
        return false;
    c->modules |= span_is(value, FOLDED_MODULES_PREFIX);
    return true;
}

static void take_meta(struct collapse *c, struct span line)
{
    if (take_left_out(c, line) || take_lost(c, line) || take_modules(c, line) || !c->meta ||
        !span_begins(line, "# flame:"))
        return;
    line = span_rtrim(line);
    if (c->meta->len == 0)
        strbuf_add(c->meta, line.s, line.len);
    else if (c->meta->len != line.len || memcmp(c->meta->buf, line.s, line.len) != 0)
        c->meta_differs = true;
}

/*
 * Whether the line has the stack that came after the last line's when it was new, or,
 * where one is missing, the one after that. It is b->stack then.
 */
static bool is_next(const struct collapse *c, struct before *b, const struct folded_line *line)
{
    size_t n = stackset_len(c->stacks);
    uint32_t next = b->stack + 1;

    for (uint32_t last = next + b->found; next <= last && next < n; next++) {
        stackset_line_set(&b->next, c->stacks, next);
        if (b->next.text.len == line->len &&
            memcmp(b->next.text.buf, line->stack, line->len) == 0) {
            b->stack = next;
            return b->found = true;
        }
    }
    return b->found = false;
}

static void add_line(struct collapse *c, struct before *b, const char *s, size_t len)
{
    struct stackset_count counts[2];
    const struct stackset_count *first = &counts[0], *second = NULL;
    struct folded_line line;
    struct span rest, word;
    int kind = folded_columns_parse(&c->columns, s, len, c->in.line, &line);

    if (kind == 0)
        take_meta(c, (struct span){s, len});
    if (kind < 0 || (kind > 0 && line.differential && c->column >= 0))
        collapse_unknown(c, s, len);
    else if (kind > 0) {
        rest = (struct span){s + line.len, len - line.len};
        word = span_next(&rest);
        counts[0] = exact(word.s, word.len, line.count1);
        if (line.differential) {
            word = span_next(&rest);
            counts[1] = exact(word.s, word.len, line.count);
            second = &counts[1];
        } else if (c->column == 1) {
            second = first;
            first = NULL;
        }
        if (folded_is_too_deep(line.stack, line.len)) {
            textinput_refuse(&c->in, FOLDED_TOO_DEEP);
            return;
        }
        /* Empty frames at the end are none; heaptrack_print ends every stack in ';'. */
        while (line.len > 0 && line.stack[line.len - 1] == ';')
            line.len--;
        if (is_next(c, b, &line)) {
            stackset_add_to(c->stacks, b->stack, first, second);
            c->samples++;
            return;
        }
        push_frames(c, b, line.stack, line.len);
        if (second)
            stackset_want_two(c->stacks);
        b->stack = stackset_find(c->stacks, c->ids, c->n);
        stackset_add_to(c->stacks, b->stack, first, second);
        c->samples++;
    }
}

/* Stacks, and names with them, go to disk when they are too many. False: that failed. */
static bool make_room(struct collapse *c, struct before *b)
{
    if (!c->spill || !spill_is_due(c->spill, c->stacks, false))
        return !c->spill || !c->spill->status;
    strbuf_clear(&b->text);
    c->n = 0;
    b->stack = UINT32_MAX;
    b->found = false;
    b->next.n = 0;
    return spill_take(c->spill, &c->stacks, false) == FLAME_OK;
}

void collapse_folded_begin(struct collapse *c)
{
    const char *text;
    size_t len = textinput_peek(&c->in, &text, FOLDED_COLUMNS_LOOK);

    folded_columns_begin(&c->columns, text, len);
    c->begun = true;
}

void collapse_folded_run(struct collapse *c)
{
    struct before b = {.text = STRBUF_INIT, .stack = UINT32_MAX, .next = STACKSET_LINE_INIT};
    struct textrecord rec;

    if (!c->begun)
        collapse_folded_begin(c);
    while (make_room(c, &b) && textinput_record(&c->in, &rec)) {
        struct span line = rec.line;

        if (c->in.line == 1 && span_begins(line, "\xef\xbb\xbf"))
            line = span_from(line, 3); /* a byte order mark */
        add_line(c, &b, line.s, line.len);
    }
    c->n = 0;
    strbuf_release(&b.text);
    free(b.ends);
    stackset_line_release(&b.next);
}

int collapse_folded_probe(const char *text, size_t len)
{
    struct span rest = {text, len}, line;
    struct folded_line f;
    size_t good = 0, bad = 0, stacks = 0;

    if (span_begins(rest, "# flame: "))
        return COLLAPSE_CLEARLY_FOLDED;
    while (span_line(&rest, &line)) {
        int kind = folded_parse_line(line.s, line.len, &f);

        if (rest.len == 0 && kind < 0) /* cut */
            break;
        good += kind > 0;
        bad += kind < 0;
        stacks += kind > 0 && line.s[0] != ' ' && memchr(f.stack, ';', f.len);
    }
    if (!good || bad > good)
        return 0;
    if (bad > good / 4)
        return 5;
    return stacks > good / 2 ? COLLAPSE_CLEARLY_FOLDED : 10;
}
