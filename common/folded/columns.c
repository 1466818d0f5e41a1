#include "common/folded/columns.h"

#include <inttypes.h>

#include "common/str_starts.h"
#include "common/error.h"

/* Only flame writes such comments. */
static bool is_heading(const char *s, size_t len)
{
    return bytes_start_with(s, len, "# flame:");
}

void folded_columns_begin(struct folded_columns *c, const char *text, size_t len)
{
    size_t one = 0, two = 0;
    struct folded_line line;

    *c = (struct folded_columns){.kind = FOLDED_AS_WRITTEN, .text = STRBUF_INIT};
    len = len < FOLDED_COLUMNS_LOOK ? len : FOLDED_COLUMNS_LOOK;
    while (len) {
        const char *nl = memchr(text, '\n', len);
        size_t n = nl ? (size_t)(nl - text) : len;

        if (!nl && one + two) /* perhaps cut */
            break;
        if (is_heading(text, n))
            return;
        if (folded_parse_line(text, n, &line) > 0)
            ++*(line.differential ? &two : &one);
        text += nl ? n + 1 : n;
        len -= nl ? n + 1 : n;
    }
    c->kind = two > one ? FOLDED_TWO : FOLDED_ONE;
}

void folded_columns_release(struct folded_columns *c)
{
    strbuf_release(&c->text);
}

/* Makes the two numbers one count and a part of the name, which then no longer ends in a number. */
static void join(struct folded_columns *c, uint64_t number, struct folded_line *line)
{
    strbuf_clear(&c->text);
    strbuf_add(&c->text, line->stack, line->one_len);
    c->text.buf[line->len] = '_';
    line->stack = c->text.buf;
    line->len = line->one_len;
    line->count1 = line->count;
    line->differential = false;
    if (!c->joined++)
        c->joined_line = number;
}

int folded_columns_parse(struct folded_columns *c, const char *s, size_t len, uint64_t number,
                         struct folded_line *out)
{
    int kind = folded_parse_line(s, len, out);

    if (likely(c->kind == FOLDED_AS_WRITTEN) ||
        (kind > 0 && out->differential == (c->kind == FOLDED_TWO)))
        return kind;
    if (kind > 0 && c->kind == FOLDED_TWO)
        return -1;
    if (kind > 0)
        join(c, number, out);
    else if (kind == 0 && is_heading(s, len)) /* texts one behind the other */
        c->kind = FOLDED_AS_WRITTEN;
    return kind;
}

void folded_columns_say(const struct folded_columns *c, const char *name)
{
    if (c->joined == 1)
        flame_warn("%s: line %" PRIu64 " ends in two numbers, and most lines in one: the first is "
                   "read as a part of the name",
                   name, c->joined_line);
    else if (c->joined)
        flame_warn("%s: %" PRIu64 " lines end in two numbers, from line %" PRIu64
                   " on, and most lines in one: the first is read as a part of the name",
                   name, c->joined, c->joined_line);
}

int folded_refuse_foreign(const char *name, uint64_t stacks, uint64_t unknown, uint64_t number,
                          const char *first)
{
    if (unknown <= stacks)
        return FLAME_OK;
    return flame_error(FLAME_USAGE,
                       "%s: %" PRIu64 " of %" PRIu64 " lines are no folded stacks, which are lines "
                       "like 'main;read 42'; the first is line %" PRIu64 ": %s",
                       name, unknown, unknown + stacks, number, first);
}
