#include "render/backend.h"

const struct render_backend *const render_backends[] = {
    &render_svg,
    &render_html,
    &render_png,
    NULL,
};

const struct render_backend *backend_find(const char *name)
{
    for (size_t i = 0; render_backends[i]; i++)
        if (strcmp(render_backends[i]->name, name) == 0)
            return render_backends[i];
    return NULL;
}

const struct render_backend *backend_for_file(const char *path)
{
    size_t len = strlen(path);

    for (size_t i = 0; render_backends[i]; i++) {
        size_t n = strlen(render_backends[i]->name);

        if (len > n + 1 && path[len - n - 1] == '.' &&
            strcmp(path + len - n, render_backends[i]->name) == 0)
            return render_backends[i];
    }
    return NULL;
}
