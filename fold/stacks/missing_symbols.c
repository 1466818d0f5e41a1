/* See missing_symbols.h. */
#include "fold/stacks/missing_symbols.h"

#include <stdlib.h>

#include "common/alloc.h"
#include "common/basename.h"
#include "common/folded.h"

enum { NAMED = 3, NAME_MAX_BYTES = 200 };

void missing_symbols_release(struct missing_symbols *l)
{
    for (size_t i = 0; i < l->n; i++)
        free(l->words[i]);
    free(l->words);
    *l = (struct missing_symbols){0};
}

static bool has(const struct missing_symbols *l, const char *s, size_t len)
{
    for (size_t i = 0; i < l->n; i++)
        if (strlen(l->words[i]) == len && memcmp(l->words[i], s, len) == 0)
            return true;
    return false;
}

void missing_symbols_add(struct missing_symbols *l, const char *s, size_t len)
{
    if (l->more || has(l, s, len))
        return;
    l->more = l->n == LOSTNAMES_MAX;
    if (l->more)
        return;
    l->words = xreallocarray(l->words, l->n + 1, sizeof *l->words);
    l->words[l->n++] = xmemdup0(s, len);
}

void missing_symbols_word(struct strbuf *sb, const char *path, const uint8_t *build, size_t len)
{
    struct strbuf name = STRBUF_INIT;

    folded_add_frame(&name, base_name(path), strlen(base_name(path)));
    for (size_t i = 0; i < name.len && i < NAME_MAX_BYTES; i++)
        strbuf_addch(sb, name.buf[i] == ' ' || name.buf[i] == ':' ? '_' : name.buf[i]);
    strbuf_release(&name);
    strbuf_addch(sb, ':');
    for (size_t i = 0; i < len; i++)
        strbuf_addf(sb, "%02x", build[i]);
}

bool missing_symbols_same(const struct missing_symbols *a, const struct missing_symbols *b)
{
    for (size_t i = 0; i < a->n; i++)
        if (!has(b, a->words[i], strlen(a->words[i])))
            return false;
    return a->n == b->n && !a->more && !b->more;
}

void missing_symbols_add_lines(const struct missing_symbols *l, struct strbuf *sb)
{
    for (size_t i = 0; i < l->n; i++)
        strbuf_addf(sb, "# flame: " LOSTNAMES_KEY "=%s\n", l->words[i]);
}

void missing_symbols_add_names(const struct missing_symbols *l, struct strbuf *sb)
{
    for (size_t i = 0; i < l->n && i < NAMED; i++)
        strbuf_addf(sb, "%s%.*s",
                    i == 0                           ? ""
                    : i + 1 == l->n && l->n <= NAMED ? " and "
                                                     : ", ",
                    (int)strcspn(l->words[i], ":"), l->words[i]);
    if (l->n > NAMED)
        strbuf_addf(sb, " and %zu more", l->n - NAMED);
}
