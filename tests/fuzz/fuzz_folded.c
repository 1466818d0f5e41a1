/*
 * Any bytes as folded text: every line parsed, every key looked up, the tree
 * and what its comments say of time built, drawn and exported both ways round. What
 * folded_add_frame makes of the input must read back as one frame, and no input may get markup or a
 * control character into the picture.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "common/alloc.h"
#include "common/folded.h"
#include "render/backend.h"
#include "render/palette.h"
#include "render/top/toplist.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(int good)
{
    if (!good)
        abort();
}

static size_t count_of(const char *text, const char *part)
{
    size_t n = 0;

    for (const char *p = text; (p = strstr(p, part)); p++)
        n++;
    return n;
}

static char *written_bytes(const struct render_backend *b, const struct frametree *t,
                           const struct render_options *o, size_t *len)
{
    char *text = NULL;
    FILE *f = open_memstream(&text, len);

    check(f && b->write(f, t, o) == 0 && fclose(f) == 0);
    return text;
}

static char *written(const struct render_backend *b, const struct frametree *t,
                     const struct render_options *o)
{
    size_t len;
    char *text = written_bytes(b, t, o, &len);

    check(strlen(text) == len);
    for (size_t i = 0; i < len; i++)
        check(text[i] == '\n' || ((unsigned char)text[i] >= 0x20 && text[i] != 0x7f));
    return text;
}

/* What is folded again holds as many stacks with a count, and nothing that is no stack. */
static void check_folded(const struct frametree *t, const struct render_options *o)
{
    size_t len, stacks = 0, want = 0;
    char *text = written_bytes(&export_folded, t, o, &len);
    struct folded_line line;

    for (size_t at = 0; at < len;) {
        const char *nl = memchr(text + at, '\n', len - at);
        int kind = folded_parse_line(text + at, (size_t)(nl - text) - at, &line);

        check(kind == 1 || (kind == 0 && at == 0));
        stacks += kind == 1;
        at = (size_t)(nl - text) + 1;
    }
    for (uint32_t i = 0; i < t->n; i++)
        want += t->nodes[i].self > 0 || (t->self_part && t->self_part[i] > 0) ||
                (t->delta && t->delta[i] < 0);
    check(stacks == want);
    free(text);
}

static bool has_fractions(const struct frametree *t)
{
    for (uint32_t i = 0; t->delta && i < t->n; i++)
        if (t->delta[i] != floor(t->delta[i]))
            return true;
    return t->self_part != NULL;
}

static void export(const struct frametree *t, const struct render_options *o)
{
    size_t len;

    check_folded(t, o);
    for (size_t i = 0; render_backends[i]; i++) {
        const struct render_backend *b = render_backends[i];

        if (strncmp(b->name, "png", 3) == 0 || b == &export_folded)
            continue;
        /* These would say on standard error that they round. */
        if (has_fractions(t) &&
            (b == &export_pprof || b == &export_callgrind || b == &export_massif))
            continue;
        if (b == &export_pprof)
            free(written_bytes(b, t, o, &len));
        else
            free(written(b, t, o));
    }
}

static void draw(const struct frametree *t, const char *name, const struct timeline *tl)
{
    struct render_column column = {.name = tl->n ? "live" : name, .title = name, .unit = name};
    struct wrappers_options wrappers = {.none = t->n % 3 == 0};
    struct render_options o = {.title = name,
                               .wrappers = &wrappers,
                               .subtitle = name,
                               .command = name,
                               .countname = name,
                               .nametype = name,
                               .notes = name,
                               .factor = 1,
                               .width = 1200,
                               .frame_height = 16,
                               .fonttype = name,
                               .fontsize = 12,
                               .palette = palette_find("rust"),
                               .hash = t->n % 2,
                               .columns = &column,
                               .timeline = tl,
                               .ncolumns = 1};
    char *text = written(&render_svg, t, &o);

    check(count_of(text, "<script") == 1 && count_of(text, "<style") == 1);
    check(count_of(text, "<g data-x=") <= t->n);
    free(text);
    text = written(&render_html, t, &o);
    check(count_of(text, "<script") == 2 && count_of(text, "</script") == 2);
    check(count_of(text, "<!--") == 0 && count_of(text, "<style") == 1);
    free(text);
    export(t, &o);
}

static void merge(const char *s, size_t size, bool reverse)
{
    char *name = xmemdup0(s, size);
    struct folded_line line;
    const char *stack;
    struct top_row *rows;
    struct timeline tl;
    struct frametree t;
    size_t n, history;
    uint32_t node;

    timeline_init(&tl);
    frametree_init(&t, reverse);
    for (size_t at = 0; at < size;) {
        const char *nl = memchr(s + at, '\n', size - at);
        size_t len = nl ? (size_t)(nl - s) - at : size - at;

        if (folded_parse_line(s + at, len, &line) == 1)
            check(frametree_add(&t, &line) == 0);
        else if (timeline_comment(&tl, s + at, len, 1, &stack, &n, &history) &&
                 frametree_place(&t, stack, n, &node) == 0)
            timeline_placed(&tl, history, node);
        at += len + 1;
    }
    frametree_finish(&t);
    rows = toplist_make(&t, NULL, TOP_BY_SELF, &n);
    check(n < t.nnames);
    free(rows);
    timeline_finish(&tl);
    draw(&t, name, &tl);
    timeline_release(&tl);
    frametree_release(&t);
    free(name);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const char *s = (const char *)data, *value;
    struct strbuf sb = STRBUF_INIT;
    struct folded_line f;
    size_t n;

    for (size_t at = 0; at < size;) {
        const char *nl = memchr(s + at, '\n', size - at);
        size_t len = nl ? (size_t)(nl - s) - at : size - at;

        if (folded_parse_line(s + at, len, &f) == 1)
            check(f.stack == s + at && f.len < len && f.count.part >= 0 && f.count.part < 1);
        if (folded_find_meta(s + at, len, "unit", &value, &n))
            check(value + n <= s + at + len);
        at += len + 1;
    }
    folded_add_frame(&sb, s, size);
    n = sb.len;
    strbuf_addstr(&sb, " 1");
    check(folded_parse_line(sb.buf, sb.len, &f) == 1 && !f.differential && f.len == n);
    check(!memchr(sb.buf, ';', sb.len) && !memchr(sb.buf, '\n', sb.len));
    strbuf_release(&sb);
    merge(s, size, false);
    merge(s, size, true);
    return 0;
}
