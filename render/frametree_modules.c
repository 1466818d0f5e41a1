#define _GNU_SOURCE
#include "render/frametree_modules.h"

#include <stdlib.h>

#include "common/alloc.h"
#include "fold/stacks/place.h"
#include "fold/stacks/stackset.h"
#include "render/palette.h"

static uint32_t add_module(struct frametree *t, struct stackset *known, const char *s, size_t len)
{
    uint32_t id = stackset_name(known, s, len) + 1;

    if (id == t->nmodules) {
        t->modules = xreallocarray(t->modules, (size_t)id + 1, sizeof *t->modules);
        t->modules[t->nmodules++] =
            (struct frametree_name){.s = s, .len = (uint32_t)len, .rank = id};
    }
    return id;
}

void frametree_split_modules(struct frametree *t)
{
    struct stackset *known = stackset_new();

    t->module_of = xcalloc(t->nnames, sizeof *t->module_of);
    t->nmodule_of = t->nnames;
    t->modules = xcalloc(1, sizeof *t->modules);
    t->nmodules = 1;
    for (uint32_t i = 1; i < t->nnames; i++) {
        struct frametree_name *n = &t->names[i];
        size_t own = place_name_len(n->s, n->len);

        if (own + 1 < n->len)
            t->module_of[i] = add_module(t, known, n->s + own + 1, n->len - own - 1);
        n->len = (uint32_t)own;
    }
    stackset_free(known);
}

enum module_text module_text_of(const char *s, size_t len, enum module_text before)
{
    static const char *const words[] = {
        [MODULE_TEXT_PREFIX] = FOLDED_MODULES_PREFIX, [MODULE_TEXT_MARKED] = FOLDED_MODULES_MARKED};
    const char *value;
    size_t n;

    if (!folded_find_meta(s, len, FOLDED_MODULES, &value, &n))
        return before;
    for (size_t i = MODULE_TEXT_PREFIX; i < ARRAY_LEN(words); i++)
        if (strlen(words[i]) == n && memcmp(words[i], value, n) == 0)
            return (enum module_text)i;
    return before;
}

/* Offset of the function in "MODULE`FUNCTION"; 0: the name has no module. A frame with the
 * annotation of a JIT compiler or the kernel is in no module, whatever its name. */
static size_t function_at(const char *s, size_t len)
{
    const char *tick = memchr(s, '`', len);
    size_t own = palette_strip_mark(s, len);

    if (!tick || tick == s || tick + 1 == s + len || (own < len && strchr("kj", s[len - 2])))
        return 0;
    return (size_t)(tick - s) + 1;
}

static void add_prefixed(struct strbuf *sb, bool keep, const char *s, size_t len)
{
    size_t at = function_at(s, len);

    strbuf_add(sb, s + at, len - at);
    if (at && keep) {
        strbuf_addch(sb, PLACE_MARK);
        strbuf_add(sb, s, at - 1);
    }
}

void module_text_stack(enum module_text how, bool keep, struct strbuf *room, const char **s,
                       size_t *len)
{
    if (how == MODULE_TEXT_NONE || (how == MODULE_TEXT_MARKED && keep))
        return;
    strbuf_clear(room);
    for (size_t at = 0;;) {
        const char *semi = memchr(*s + at, ';', *len - at);
        size_t end = semi ? (size_t)(semi - *s) : *len;

        if (how == MODULE_TEXT_PREFIX)
            add_prefixed(room, keep, *s + at, end - at);
        else
            strbuf_add(room, *s + at, place_name_len(*s + at, end - at));
        if (!semi)
            break;
        strbuf_addch(room, ';');
        at = end + 1;
    }
    *s = room->buf;
    *len = room->len;
}
