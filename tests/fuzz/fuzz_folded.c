/*
 * Any bytes as folded text: every line parsed, every key looked up, the tree
 * built and drawn both ways round. What folded_add_frame makes of the input
 * must read back as one frame, and no input may get markup or a control
 * character into the picture.
 */
#include <stdio.h>
#include <stdlib.h>

#include "common/folded.h"
#include "render/backend.h"
#include "render/palette.h"
#include "render/toplist.h"

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

static char *written(const struct render_backend *b, const struct frametree *t,
                     const struct render_options *o)
{
    char *text = NULL;
    size_t len = 0;
    FILE *f = open_memstream(&text, &len);

    check(f && b->write(f, t, o) == 0 && fclose(f) == 0);
    check(strlen(text) == len);
    for (size_t i = 0; i < len; i++)
        check(text[i] == '\n' || ((unsigned char)text[i] >= 0x20 && text[i] != 0x7f));
    return text;
}

static void draw(const struct frametree *t, const char *name)
{
    struct render_column column = {.name = name, .title = name, .unit = name};
    struct render_options o = {.title = name,
                               .subtitle = name,
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
                               .ncolumns = 1};
    char *text = written(&render_svg, t, &o);

    check(count_of(text, "<script") == 1 && count_of(text, "<style") == 1);
    check(count_of(text, "<g data-x=") <= t->n);
    free(text);
    text = written(&render_html, t, &o);
    check(count_of(text, "<script") == 2 && count_of(text, "</script") == 2);
    check(count_of(text, "<!--") == 0 && count_of(text, "<style") == 1);
    free(text);
}

static void merge(const char *s, size_t size, bool reverse)
{
    char *name = xmemdup0(s, size);
    struct folded_line line;
    struct top_row *rows;
    struct frametree t;
    size_t n;

    frametree_init(&t, reverse);
    for (size_t at = 0; at < size;) {
        const char *nl = memchr(s + at, '\n', size - at);
        size_t len = nl ? (size_t)(nl - s) - at : size - at;

        if (folded_parse_line(s + at, len, &line) == 1)
            check(frametree_add(&t, &line) == 0);
        at += len + 1;
    }
    frametree_finish(&t);
    rows = toplist_make(&t, TOP_BY_SELF, &n);
    check(n < t.nnames);
    free(rows);
    draw(&t, name);
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
