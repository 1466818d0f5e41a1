#include "render/cairolib.h"

#include <dlfcn.h>
#include <stddef.h>

const struct cairolib *cairolib_open(void)
{
    static struct cairolib lib;
    static void *handle;

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
