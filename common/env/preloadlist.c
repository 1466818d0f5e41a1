#define _GNU_SOURCE
#include "common/env/preloadlist.h"

#include "common/str_starts.h"
#include "common/str_span.h"
#include "common/pages.h"

#define PRELOAD "LD_PRELOAD="

const char *preloadlist_value(char *const *envp, const char *name)
{
    const char *value = NULL;

    for (; envp && *envp; envp++)
        if (starts_with(*envp, name))
            value = *envp + strlen(name);
    return value;
}

const char *preloadlist_next(const char **s, size_t *len)
{
    const char *entry = *s + span_of(*s, ": ");

    *len = span_until(entry, ": ");
    *s = entry + *len;
    return *len ? entry : NULL;
}

/* Last component of an entry. The entry ends at a separator, not at a NUL. */
static const char *entry_name(const char *s, size_t len)
{
    const char *slash = memrchr(s, '/', len);

    return slash ? slash + 1 : s;
}

bool preloadlist_is(const char *entry, size_t len, const char *library)
{
    const char *base = entry_name(entry, len);

    return len - (size_t)(base - entry) == strlen(library) &&
           memcmp(base, library, strlen(library)) == 0;
}

bool preloadlist_is_sanitizer(const char *entry, size_t len)
{
    static const char *const names[] = {"libasan.so", "libtsan.so", "libhwasan.so"};
    const char *base = entry_name(entry, len);

    for (size_t i = 0; i < ARRAY_LEN(names); i++)
        if (strncmp(base, names[i], strlen(names[i])) == 0)
            return true;
    return false;
}

/* Writes `entry`, a whole "LD_PRELOAD=...", with `instead` in place of the library (NULL: without
 * it). False: the list is empty then. */
static bool write_list(char *out, const char *entry, const char *library, const char *instead)
{
    const char *s = entry + strlen(PRELOAD), *one;
    char *at = out + strlen(PRELOAD), *begin = at;
    size_t len;

    memcpy(out, PRELOAD, strlen(PRELOAD));
    while ((one = preloadlist_next(&s, &len))) {
        if (preloadlist_is(one, len, library)) {
            if (!instead)
                continue;
            one = instead;
            len = strlen(instead);
        }
        if (at != begin)
            *at++ = ':';
        memcpy(at, one, len);
        at += len;
    }
    *at = '\0';
    return at != begin;
}

/* Finds room for the array and the string. False: there is no room, and the caller uses its old
 * environment. */
static bool find_room(struct preloadlist_copy *c, size_t entries, size_t text, char ***array,
                      char **list)
{
    *array = c->entries;
    *list = c->list;
    if (entries <= PRELOADLIST_ENTRIES && text <= PRELOADLIST_TEXT)
        return true;
    c->pages_size = entries * sizeof **array + text;
    c->pages = pages_alloc(c->pages_size);
    *array = c->pages;
    *list = (char *)c->pages + entries * sizeof **array;
    return c->pages != NULL;
}

/* Number of entries that name the library: each may become longer in the copy. */
static size_t count(const char *list, const char *library)
{
    const char *entry;
    size_t len, n = 0;

    while ((entry = preloadlist_next(&list, &len)))
        n += preloadlist_is(entry, len, library);
    return n;
}

void preloadlist_instead(struct preloadlist_copy *copy, char *const *envp, const char *library,
                         const char *instead)
{
    const char *preload = preloadlist_value(envp, PRELOAD);
    size_t entries = 1, n = 0, text;
    char **array, *list;

    copy->envp = NULL;
    copy->pages = NULL;
    if (!preload || !count(preload, library))
        return;
    text = strlen(PRELOAD) + strlen(preload) + 1;
    if (instead)
        text += count(preload, library) * strlen(instead);
    for (char *const *e = envp; *e; e++)
        entries++;
    if (!find_room(copy, entries, text, &array, &list))
        return;
    for (char *const *e = envp; *e; e++)
        /* The loader uses the last of several LD_PRELOADs: only that one is copied, in its
         * place. */
        if (!starts_with(*e, PRELOAD))
            array[n++] = *e;
        else if (*e + strlen(PRELOAD) == preload && write_list(list, *e, library, instead))
            array[n++] = list;
    array[n] = NULL;
    copy->envp = array;
}

void preloadlist_without(struct preloadlist_copy *copy, char *const *envp, const char *library)
{
    preloadlist_instead(copy, envp, library, NULL);
}

void preloadlist_release(struct preloadlist_copy *copy)
{
    if (copy->pages)
        pages_free(copy->pages, copy->pages_size);
}
