/*
 * Lines in the order of LC_ALL=C sort, from stacks in the order of stacks.
 *
 * sort compares whole lines, where '(' comes before '9': "a (b) 1" before "a 9". The two orders
 * differ only where one stack's text begins another's, the next byte being a blank or less. So a
 * stack's line is held back as long as the lines that come are less than it. Once one is not, no
 * later one can be, as all that come are sorted by stack.
 *
 * Rejected: sorting the lines. They take ten times the memory of the stacks.
 */
#include "fold/stacks/orderedlines.h"

#include <stdlib.h>

#include "common/alloc.h"

void orderedlines_init(struct orderedlines *o, FILE *f, bool two)
{
    *o = (struct orderedlines){.f = f, .two = two, .out = STRBUF_INIT, .line = STRBUF_INIT};
}

static int compare(const struct strbuf *a, const struct strbuf *b)
{
    int c = memcmp(a->buf, b->buf, a->len < b->len ? a->len : b->len);

    return c ? c : (a->len > b->len) - (a->len < b->len);
}

static void end_line(struct orderedlines *o)
{
    strbuf_addch(&o->out, '\n');
    if (o->out.len > 65536) {
        fwrite(o->out.buf, 1, o->out.len, o->f);
        strbuf_clear(&o->out);
    }
}

static void put(struct orderedlines *o, const struct strbuf *line)
{
    strbuf_add(&o->out, line->buf, line->len);
    end_line(o);
}

/* Holds the line back, and owns it from now on. */
static void hold(struct orderedlines *o)
{
    size_t at;

    GROW(o->waiting, o->nwaiting, o->alloc);
    for (at = o->nwaiting; at > 0 && compare(&o->waiting[at - 1], &o->line) < 0; at--)
        o->waiting[at] = o->waiting[at - 1];
    o->waiting[at] = o->line;
    o->nwaiting++;
    o->line = (struct strbuf)STRBUF_INIT;
}

static void release(struct orderedlines *o, const struct strbuf *before)
{
    while (o->nwaiting > 0 && (!before || compare(&o->waiting[o->nwaiting - 1], before) < 0)) {
        put(o, &o->waiting[--o->nwaiting]);
        strbuf_release(&o->waiting[o->nwaiting]);
    }
}

static void add_counts(const struct orderedlines *o, const struct stackset_count *first,
                       const struct stackset_count *second, struct strbuf *sb)
{
    strbuf_addch(sb, ' ');
    stackset_count_text(sb, first);
    if (o->two) {
        strbuf_addch(sb, ' ');
        stackset_count_text(sb, second);
    }
}

void orderedlines_add(struct orderedlines *o, const struct strbuf *text,
                      const struct stackset_count *first, const struct stackset_count *second,
                      bool wait)
{
    if (o->nwaiting == 0 && !wait) {
        strbuf_add(&o->out, text->buf, text->len);
        add_counts(o, first, second, &o->out);
        end_line(o);
        return;
    }
    strbuf_clear(&o->line);
    strbuf_add(&o->line, text->buf, text->len);
    add_counts(o, first, second, &o->line);
    release(o, &o->line);
    /* Held lines that are not less than this one stay behind it. */
    if (wait)
        hold(o);
    else
        put(o, &o->line);
}

void orderedlines_finish(struct orderedlines *o)
{
    release(o, NULL);
    fwrite(o->out.buf, 1, o->out.len, o->f);
    strbuf_release(&o->out);
    strbuf_release(&o->line);
    free(o->waiting);
}
