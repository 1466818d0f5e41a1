#include "fold/stacks/filter_lines.h"

#include <stdlib.h>

#include "common/alloc.h"

/* A line that waits for the end: its counts, and where its ids lie. */
struct waiting {
    struct folded_line line; /* its text is gone */
    size_t at, n;
    unsigned tag;
};

struct filter_lines {
    struct filter *f;
    filter_sink sink;
    void *opaque;
    struct stackset *names;
    uint32_t *ids; /* the line's, or of all that wait and then the line's */
    size_t nids, ids_alloc;
    struct waiting *waiting;
    size_t nwaiting, waiting_alloc;
    struct strbuf text;
};

struct filter_lines *filter_lines_new(struct filter *f, filter_sink sink, void *opaque)
{
    struct filter_lines *fl = xcalloc(1, sizeof *fl);

    *fl = (struct filter_lines){.f = f, .sink = sink, .opaque = opaque, .text = STRBUF_INIT};
    fl->names = stackset_new();
    return fl;
}

void filter_lines_free(struct filter_lines *fl)
{
    if (!fl)
        return;
    stackset_free(fl->names);
    free(fl->ids);
    free(fl->waiting);
    strbuf_release(&fl->text);
    free(fl);
}

static int hand_on(struct filter_lines *fl, struct folded_line line, uint32_t *ids, size_t n,
                   unsigned tag)
{
    ids = filter_finish_stack(fl->f, fl->names, ids, &n);
    strbuf_clear(&fl->text);
    for (size_t i = 0; i < n; i++) {
        size_t len;
        const char *s = stackset_text(fl->names, ids[i], &len);

        if (i)
            strbuf_addch(&fl->text, ';');
        strbuf_add(&fl->text, s, len);
    }
    line.stack = fl->text.buf;
    line.len = fl->text.len;
    return fl->sink(fl->opaque, &line, tag);
}

static size_t cut_line(struct filter_lines *fl, const struct folded_line *line)
{
    size_t len = line->len, n = 0;

    while (len > 0 && line->stack[len - 1] == ';')
        len--;
    for (size_t from = 0, to; from < len; from = to + 1) {
        const char *end = memchr(line->stack + from, ';', len - from);

        to = end ? (size_t)(end - line->stack) : len;
        GROW(fl->ids, fl->nids + n, fl->ids_alloc);
        fl->ids[fl->nids + n++] = stackset_name(fl->names, line->stack + from, to - from);
    }
    return n;
}

int filter_lines_add(struct filter_lines *fl, const struct folded_line *line, unsigned tag,
                     bool *kept)
{
    size_t n = cut_line(fl, line);
    uint32_t *ids = fl->ids ? fl->ids + fl->nids : NULL;

    *kept = filter_stack(fl->f, fl->names, ids, &n);
    if (!*kept)
        return 0;
    if (!fl->f->trim_shared)
        return hand_on(fl, *line, ids, n, tag);
    filter_note_shared(fl->f, ids, n);
    GROW(fl->waiting, fl->nwaiting, fl->waiting_alloc);
    fl->waiting[fl->nwaiting++] = (struct waiting){*line, fl->nids, n, tag};
    fl->nids += n;
    return 0;
}

int filter_lines_end(struct filter_lines *fl)
{
    int status = 0;

    for (size_t i = 0; i < fl->nwaiting && !status; i++) {
        const struct waiting *w = &fl->waiting[i];

        status = hand_on(fl, w->line, fl->ids + w->at, w->n, w->tag);
    }
    fl->nwaiting = fl->nids = 0;
    return status;
}
