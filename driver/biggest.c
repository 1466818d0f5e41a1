#include "driver/biggest.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include "common/alloc.h"
#include "common/folded.h"
#include "render/value.h"

#define FRAMES_SHOWN 12
/* A name that is megabytes long is cut, a terminal is no place for it. */
#define NAME_SHOWN 200

struct stack {
    char *text;
    uint64_t bytes;
};

/* Keeps stacks[0..*used) sorted, largest first, and no more than `max`. */
static void insert(struct stack *stacks, size_t *used, size_t max, const struct folded_line *line)
{
    uint64_t bytes = line->count.whole;
    size_t at = *used;

    while (at > 0 && stacks[at - 1].bytes < bytes)
        at--;
    if (at == max)
        return;
    if (*used == max)
        free(stacks[--*used].text);
    memmove(stacks + at + 1, stacks + at, (*used - at) * sizeof *stacks);
    stacks[at] = (struct stack){xmemdup0(line->stack, line->len), bytes};
    ++*used;
}

static void add_frame(struct strbuf *sb, const char *name)
{
    static const char inlined[] = "_[i]";
    size_t len = strlen(name), mark = strlen(inlined);
    bool is_inlined = len > mark && strcmp(name + len - mark, inlined) == 0;

    if (is_inlined)
        len -= mark;
    strbuf_addstr(sb, "flame:     ");
    strbuf_add(sb, name, len < NAME_SHOWN ? len : NAME_SHOWN);
    strbuf_addf(sb, "%s%s\n", len < NAME_SHOWN ? "" : "...", is_inlined ? " (inlined)" : "");
}

/* Eats stack->text. */
static void add_stack(struct strbuf *sb, struct stack *stack)
{
    size_t frames = 1, left;
    char *semicolon;

    strbuf_addstr(sb, "flame:   ");
    value_add_both(sb, (struct folded_count){.whole = stack->bytes}, "bytes");
    strbuf_addstr(sb, " from\n");
    for (const char *s = stack->text; (s = strchr(s, ';')); s++)
        frames++;
    for (left = frames; (semicolon = strrchr(stack->text, ';')); left--) {
        size_t depth = frames - left;

        if (frames <= FRAMES_SHOWN || depth < FRAMES_SHOWN / 2 || left <= FRAMES_SHOWN / 2)
            add_frame(sb, semicolon + 1);
        else if (depth == FRAMES_SHOWN / 2)
            strbuf_addf(sb, "flame:     ... %zu more ...\n", frames - FRAMES_SHOWN);
        *semicolon = '\0';
    }
    add_frame(sb, stack->text);
}

void biggest_print(const struct strbuf *folded, size_t n)
{
    struct stack *stacks = xcalloc(n + 1, sizeof *stacks);
    const char *end = folded->buf + folded->len;
    struct strbuf sb = STRBUF_INIT;
    size_t used = 0;

    for (const char *s = folded->buf, *next; s < end; s = next + 1) {
        struct folded_line line;

        next = memchr(s, '\n', (size_t)(end - s));
        if (!next)
            next = end;
        if (folded_parse_line(s, (size_t)(next - s), &line) == 1)
            insert(stacks, &used, n, &line);
    }
    for (size_t i = 0; i < used; i++) {
        add_stack(&sb, &stacks[i]);
        free(stacks[i].text);
    }
    fwrite(sb.buf, 1, sb.len, stderr);
    free(stacks);
    strbuf_release(&sb);
}
