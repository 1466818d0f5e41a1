#include "common/basename.h"
#include "render/backend.h"

#define ROW(backend) &backend,
const struct render_backend *const render_backends[] = {
    RENDER_BACKENDS(ROW) NULL,
};

const struct render_backend *backend_find(const char *name)
{
    for (size_t i = 0; render_backends[i]; i++)
        if (strcmp(render_backends[i]->name, name) == 0)
            return render_backends[i];
    return NULL;
}

/* Whether `path` ends in '.' and the word w[0..len), and has something before that. */
static bool has_ending(const char *path, const char *w, size_t len)
{
    size_t n = strlen(path);

    return n > len + 1 && path[n - len - 1] == '.' && path[n - len - 2] != '/' &&
           memcmp(path + n - len, w, len) == 0;
}

/* The next blank-separated word of *list, which moves on; false at its end. */
static bool next_word(const char **list, const char **w, size_t *len)
{
    if (!*list || !**list)
        return false;
    *w = *list;
    *len = strcspn(*w, " ");
    *list = *w + *len + ((*w)[*len] == ' ');
    return true;
}

static bool is_for(const struct render_backend *b, const char *path)
{
    const char *list = b->endings, *w;
    size_t len;

    if (has_ending(path, b->name, strlen(b->name)))
        return true;
    while (next_word(&list, &w, &len))
        if (has_ending(path, w, len))
            return true;
    return b->begins && strncmp(base_name(path), b->begins, strlen(b->begins)) == 0;
}

const struct render_backend *backend_for_file(const char *path)
{
    for (size_t i = 0; render_backends[i]; i++)
        if (is_for(render_backends[i], path))
            return render_backends[i];
    return NULL;
}

/* The first ending of a back end is the usual one. */
void backend_add_endings(struct strbuf *sb)
{
    for (size_t i = 0; render_backends[i]; i++) {
        const char *list = render_backends[i]->endings, *w = render_backends[i]->name;
        size_t len = strlen(w);

        next_word(&list, &w, &len);
        strbuf_addf(sb, "%s.%.*s", i ? ", " : "", (int)len, w);
    }
}
