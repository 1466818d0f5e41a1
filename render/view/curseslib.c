#include "render/view/curseslib.h"

#include <dlfcn.h>
#include <stddef.h>

const struct curseslib *curseslib_open(void)
{
    static struct curseslib lib;
    static void *handle;

    if (handle)
        return &lib;
    handle = dlopen("libncursesw.so.6", RTLD_NOW | RTLD_LOCAL);
    if (!handle)
        return NULL;
#define FIND(name)                                                                                 \
    *(void **)(void *)&lib.name = dlsym(handle, #name);                                            \
    if (!lib.name)                                                                                 \
        return handle = NULL;
    CURSESLIB_FUNCTIONS(FIND)
#undef FIND
    lib.screen = dlsym(handle, "stdscr");
    return lib.screen ? &lib : (handle = NULL);
}
