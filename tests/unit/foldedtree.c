/* See foldedtree.h. */
#include "tests/unit/foldedtree.h"

#include <stdio.h>
#include <stdlib.h>

#include "common/alloc.h"
#include "fold/stacks/place.h"
#include "render/frametree_modules.h"

static void check(bool good)
{
    if (!good)
        abort();
}

static void set_options(struct foldedtree *f)
{
    const char *name = f->text;

    f->column = (struct render_column){.name = f->timeline.n          ? "live"
                                               : lanes_any(&f->lanes) ? "off"
                                                                      : name,
                                       .title = name,
                                       .label = name,
                                       .unit = name};
    f->wrap = (struct wrappers_options){.none = f->tree.n % 3 == 0};
    f->options = (struct render_options){.title = name,
                                         .wrappers = &f->wrap,
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
                                         .hash = f->tree.n % 2,
                                         .columns = &f->column,
                                         .timeline = &f->timeline,
                                         .lanes = &f->lanes,
                                         .ncolumns = 1};
}

void foldedtree_make(struct foldedtree *f, const char *s, size_t size, bool reverse)
{
    enum module_text how = MODULE_TEXT_NONE;
    struct strbuf room = STRBUF_INIT;
    struct folded_line line;
    size_t n, history, nth;
    const char *stack;
    uint32_t node;

    *f = (struct foldedtree){.text = xmemdup0(s, size)};
    timeline_init(&f->timeline);
    lanes_init(&f->lanes);
    frametree_init(&f->tree, reverse);
    for (size_t at = 0; at < size;) {
        const char *nl = memchr(s + at, '\n', size - at);
        size_t len = nl ? (size_t)(nl - s) - at : size - at;

        how = module_text_of(s + at, len, how);
        if (folded_parse_line(s + at, len, &line) == 1) {
            module_text_stack(how, !reverse, &room, &line.stack, &line.len);
            check(frametree_add(&f->tree, &line) == 0);
        } else if (timeline_comment(&f->timeline, s + at, len, 1, &stack, &n, &history) &&
                   frametree_place(&f->tree, stack, n, &node) == 0)
            timeline_placed(&f->timeline, history, node);
        else if (lanes_comment(&f->lanes, s + at, len, 1, &stack, &n, &nth) &&
                 frametree_place(&f->tree, stack, n, &node) == 0)
            lanes_placed(&f->lanes, nth, node);
        at += len + 1;
    }
    strbuf_release(&room);
    frametree_finish(&f->tree);
    if (how && !reverse)
        frametree_split_modules(&f->tree);
    timeline_finish(&f->timeline);
    lanes_finish(&f->lanes);
    set_options(f);
}

void foldedtree_release(struct foldedtree *f)
{
    timeline_release(&f->timeline);
    lanes_release(&f->lanes);
    frametree_release(&f->tree);
    free(f->text);
}

char *foldedtree_written(const struct foldedtree *f, const struct render_backend *b, size_t *len)
{
    char *text = NULL;
    FILE *out = open_memstream(&text, len);

    check(out && b->write(out, &f->tree, &f->options) == 0 && fclose(out) == 0);
    return text;
}

char *foldedtree_text(const struct foldedtree *f, const struct render_backend *b)
{
    size_t len;
    char *text = foldedtree_written(f, b, &len);

    check(strlen(text) == len);
    for (size_t i = 0; i < len; i++)
        check(text[i] == '\n' || ((unsigned char)text[i] >= 0x20 && text[i] != 0x7f));
    return text;
}
