#include "render/backends/cairolib.h"

#include <dlfcn.h>
#include <stddef.h>

static void *handle;

const struct cairolib *cairolib_open(void)
{
    static struct cairolib lib;

    if (handle)
        return &lib;
    handle = dlopen("libcairo.so.2", RTLD_NOW | RTLD_LOCAL);
    if (!handle)
        return NULL;
#define FIND(name)                                                                                 \
    *(void **)(void *)&lib.name = dlsym(handle, #name);                                            \
    if (!lib.name)                                                                                 \
        return NULL;
    CAIROLIB_FUNCTIONS(FIND)
#undef FIND
    return &lib;
}

void cairolib_clear(const struct cairolib *lib)
{
    void (*fini)(void);

    lib->cairo_debug_reset_static_data();
    *(void **)(void *)&fini = dlsym(handle, "FcFini"); /* looks into what cairo loaded, too */
    if (fini)
        fini();
}
