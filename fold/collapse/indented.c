/* Indented trees to stacks; see indented.h. */
#include "fold/collapse/indented.h"

#include <stdlib.h>

#include "common/alloc.h"
#include "fold/stacks/span.h"

void indented_init(struct indented *t, struct collapse *c, bool inclusive,
                   enum collapse_order order)
{
    *t = (struct indented){.c = c, .inclusive = inclusive, .order = order};
}

void indented_release(struct indented *t)
{
    free(t->nodes);
    t->nodes = NULL;
    t->depth = t->alloc = 0;
}

static bool is_zero(const struct stackset_count *c)
{
    return c->whole == 0 && c->part == 0;
}

static void flush_node(struct indented *t)
{
    const struct stackset_count *count = &t->nodes[t->depth - 1].left;

    if (is_zero(count))
        return;
    for (size_t i = 0; i < t->depth; i++)
        collapse_push_id(t->c, t->nodes[i].name);
    collapse_flush(t->c, t->order, count);
}

/* to -= c, not below zero. */
static void take(struct stackset_count *to, const struct stackset_count *c)
{
    if (to->whole < c->whole || (to->whole == c->whole && to->part <= c->part)) {
        *to = (struct stackset_count){0, 0};
        return;
    }
    to->whole -= c->whole;
    if (to->part < c->part) {
        to->whole--;
        to->part += STACKSET_PART;
    }
    to->part -= c->part;
}

void indented_add(struct indented *t, size_t indent, uint32_t name,
                  const struct stackset_count *count)
{
    while (t->depth > 0 && t->nodes[t->depth - 1].indent >= indent) {
        if (t->inclusive)
            flush_node(t);
        t->depth--;
    }
    GROW(t->nodes, t->depth, t->alloc);
    t->nodes[t->depth++] = (struct indented_node){name, indent, *count};
    if (!t->inclusive)
        flush_node(t);
    else if (t->depth > 1)
        take(&t->nodes[t->depth - 2].left, count);
}

void indented_end(struct indented *t)
{
    for (; t->depth > 0; t->depth--)
        if (t->inclusive)
            flush_node(t);
}

/* Moves the decimal point three places to the right. */
static void thousandfold(struct stackset_count *c)
{
    uint64_t carry = c->part / (STACKSET_PART / 1000);

    if (__builtin_mul_overflow(c->whole, 1000u, &c->whole) ||
        __builtin_add_overflow(c->whole, carry, &c->whole)) {
        *c = (struct stackset_count){UINT64_MAX, 0};
        return;
    }
    c->part = c->part % (STACKSET_PART / 1000) * 1000;
}

bool indented_time(const char *s, size_t len, bool seconds, struct stackset_count *out)
{
    struct span rest = span_trim((struct span){s, len}), unit;
    char digits[64] = "";
    size_t n = 0, i = 0;

    for (; i < rest.len && (is_digit_ch(rest.s[i]) || rest.s[i] == '.' || rest.s[i] == ','); i++) {
        if (n == sizeof digits)
            return false;
        if (rest.s[i] != ',')
            digits[n++] = rest.s[i];
    }
    if (!stackset_count_parse(digits, n, out))
        return false;
    unit = span_ltrim(span_from(rest, i));
    unit = span_to(unit, span_token(unit));
    if (span_is(unit, "ms") || (unit.len == 0 && !seconds))
        return true;
    if (span_is(unit, "s") || unit.len == 0) {
        thousandfold(out);
        return true;
    }
    if (span_is(unit, "min")) {
        struct stackset_count one;

        thousandfold(out);
        one = *out;
        for (int k = 1; k < 60; k++)
            stackset_count_add(out, &one);
        return true;
    }
    if (span_is(unit, "us") || span_is(unit, "\xc2\xb5s") || span_is(unit, "ns")) {
        uint64_t by = span_is(unit, "ns") ? 1000000 : 1000;

        out->part = out->part / by + out->whole % by * (STACKSET_PART / by);
        out->whole /= by;
        return true;
    }
    return false;
}

bool indented_take_number(struct span *line, struct stackset_count *count)
{
    size_t n = span_digits(*line);
    struct span digits = span_to(*line, n);

    *line = span_from(*line, n);
    return n > 0 && stackset_count_parse(digits.s, digits.len, count);
}
