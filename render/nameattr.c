#include "render/nameattr.h"

#include <errno.h>
#include <stdlib.h>
#include <uthash.h>

#include "common/alloc.h"
#include "common/error.h"
#include "render/text/xml.h"

/* Keys and values point into the file's text, which the table keeps. */
struct pair {
    const char *key, *value;
};

struct nameattr {
    UT_hash_handle hh;
    const char *name;
    struct pair *pairs;
    size_t n;
};

struct nameattrs {
    struct nameattr *names;
    struct strbuf text;
};

/* Whether the key is a name in XML's sense, with letters of ASCII only. */
static bool is_key(const char *s)
{
    if (!((*s | 32) >= 'a' && (*s | 32) <= 'z') && *s != '_')
        return false;
    for (; *s; s++)
        if (!((*s | 32) >= 'a' && (*s | 32) <= 'z') && !(*s >= '0' && *s <= '9') &&
            !strchr("_-.:", *s))
            return false;
    return true;
}

/* Whether the picture itself sets the attribute, on which its script relies. */
static bool is_ours(const char *key)
{
    return strcmp(key, "data-x") == 0 || strcmp(key, "data-w") == 0 || strcmp(key, "data-d") == 0;
}

static char *next_field(char **rest)
{
    char *field = *rest, *tab = field ? strchr(field, '\t') : NULL;

    *rest = tab ? tab + 1 : NULL;
    if (tab)
        *tab = '\0';
    return field;
}

static const char *take_line(struct nameattrs *a, char *line)
{
    char *rest = line, *field;
    struct nameattr *n, *known;

    n = xcalloc(1, sizeof *n);
    n->name = next_field(&rest);
    HASH_FIND_STR(a->names, n->name, known);
    if (known) {
        free(n);
        n = known;
    } else {
        HASH_ADD_KEYPTR(hh, a->names, n->name, strlen(n->name), n);
    }
    while ((field = next_field(&rest))) {
        char *equals = strchr(field, '=');

        if (!equals)
            return "expected attribute=value";
        *equals = '\0';
        if (!is_key(field) || is_ours(field))
            return "that attribute cannot be set";
        n->pairs = xreallocarray(n->pairs, n->n + 1, sizeof *n->pairs);
        n->pairs[n->n++] = (struct pair){field, equals + 1};
    }
    return NULL;
}

int nameattrs_read(struct nameattrs **a, const char *path)
{
    const char *wrong = NULL;
    unsigned long line = 0;
    int err;

    *a = xcalloc(1, sizeof **a);
    (*a)->text = (struct strbuf)STRBUF_INIT;
    err = strbuf_read_file(&(*a)->text, path, SIZE_MAX);
    for (char *s = (*a)->text.buf; !err && !wrong && *s;) {
        size_t len = strcspn(s, "\n");
        char *after = s[len] ? s + len + 1 : s + len;

        line++;
        s[len] = '\0';
        if (len && s[len - 1] == '\r')
            s[len - 1] = '\0';
        if (*s)
            wrong = take_line(*a, s);
        s = after;
    }
    if (!err && !wrong)
        return 0;
    nameattrs_free(*a);
    *a = NULL;
    if (err)
        return flame_cannot_read(path, err);
    return flame_error(FLAME_USAGE, "%s:%lu: %s", path, line, wrong);
}

void nameattrs_free(struct nameattrs *a)
{
    struct nameattr *n, *tmp;

    if (!a)
        return;
    HASH_ITER (hh, a->names, n, tmp) {
        HASH_DEL(a->names, n);
        free(n->pairs);
        free(n);
    }
    strbuf_release(&a->text);
    free(a);
}

const struct nameattr *nameattr_find(const struct nameattrs *a, const char *name, size_t len)
{
    struct nameattr *n = NULL;

    if (a)
        HASH_FIND(hh, a->names, name, len, n);
    return n;
}

const char *nameattr_get(const struct nameattr *n, const char *key)
{
    for (size_t i = 0; n && i < n->n; i++)
        if (strcmp(n->pairs[i].key, key) == 0)
            return n->pairs[i].value;
    return NULL;
}

void nameattr_add(struct strbuf *sb, const struct nameattr *n)
{
    static const char *const elsewhere[] = {"title", "href", "target"};

    for (size_t i = 0; n && i < n->n; i++) {
        const struct pair *p = &n->pairs[i];
        bool here = true;

        for (size_t k = 0; k < ARRAY_LEN(elsewhere); k++)
            here = here && strcmp(p->key, elsewhere[k]) != 0;
        for (size_t k = 0; k < i; k++) /* two equal attributes are not well-formed XML */
            here = here && strcmp(p->key, n->pairs[k].key) != 0;
        if (!here)
            continue;
        strbuf_addf(sb, " %s=\"", p->key);
        xml_add(sb, p->value, strlen(p->value), 0);
        strbuf_addch(sb, '"');
    }
}
