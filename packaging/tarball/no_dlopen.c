/*
 * no_dlopen.c: flame-static calls these in place of dlopen and its kin (ld's --wrap). A library
 * that it loaded would load the machine's C library, which may be another version, or another one.
 */
#include <stddef.h>

void *__wrap_dlopen(const char *file, int mode);
char *__wrap_dlerror(void);
void *__wrap_dlsym(void *handle, const char *name);
int __wrap_dlclose(void *handle);

void *__wrap_dlopen(const char *file, int mode)
{
    (void)file;
    (void)mode;
    return NULL;
}

char *__wrap_dlerror(void)
{
    static char why[] = "flame-static loads no libraries; use bin/flame where the GNU C library is";

    return why;
}

void *__wrap_dlsym(void *handle, const char *name)
{
    (void)handle;
    (void)name;
    return NULL;
}

int __wrap_dlclose(void *handle)
{
    (void)handle;
    return 0;
}
