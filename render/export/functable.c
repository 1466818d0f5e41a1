/*
 * Functions by name and file, strings by bytes. Both are looked up in the table of
 * names that folding has, which gives equal bytes equal numbers.
 */
#include "render/export/functable.h"

#include <stdlib.h>

#include "common/alloc.h"
#include "fold/stacks/stackset.h"
#include "render/framename.h"

void functable_init(struct functable *ft)
{
    *ft = (struct functable){.strings = stackset_new(), .keys = stackset_new()};
}

uint32_t functable_string(struct functable *ft, const char *s, size_t len)
{
    uint32_t id = stackset_name(ft->strings, s, len);

    if (id >= ft->nstrings)
        ft->nstrings = id + 1;
    return id;
}

const char *functable_text(const struct functable *ft, uint32_t string, size_t *len)
{
    return stackset_text(ft->strings, string, len);
}

static uint32_t clean_string(struct functable *ft, const char *s, size_t len, struct strbuf *sb)
{
    strbuf_clear(sb);
    framename_add_clean(sb, s, len);
    return functable_string(ft, sb->buf, sb->len);
}

void functable_fill(struct functable *ft, const struct frametree *t, const char *marks)
{
    struct strbuf sb = STRBUF_INIT;
    size_t cap = 0;

    ft->places = xcalloc(t->nnames, sizeof *ft->places);
    for (uint32_t i = 0; i < t->nnames; i++) {
        struct framename f = framename_split(t->names[i].s, t->names[i].len);
        const struct frametree_name *module = frametree_module(t, i);
        struct functable_func func = {.file = FUNCTABLE_NONE,
                                      .module = module ? (uint32_t)(module - t->modules) : 0};
        struct functable_place *p = &ft->places[i];
        size_t len = f.function_len;

        strbuf_clear(&sb);
        framename_add_clean(&sb, f.function, len);
        if (f.mark && !strchr(marks, f.mark))
            strbuf_addf(&sb, "_[%c]", f.mark);
        func.name = functable_string(ft, sb.buf, sb.len);
        if (f.file)
            func.file = clean_string(ft, f.file, f.file_len, &sb);
        p->line = f.line;
        p->mark = f.mark;
        /* The root's function is never another frame's, whatever that frame's name. */
        p->func = stackset_name(ft->keys, (const char *)&func, i ? sizeof func : 0);
        GROW(ft->funcs, p->func, cap);
        if (p->func == ft->nfuncs)
            ft->funcs[ft->nfuncs++] = func;
    }
    strbuf_release(&sb);
}

void functable_release(struct functable *ft)
{
    stackset_free(ft->strings);
    stackset_free(ft->keys);
    free(ft->funcs);
    free(ft->places);
    *ft = (struct functable){0};
}
