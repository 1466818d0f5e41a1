#include "common/loaderline.h"

#include <string.h>

bool loaderline_is_loader(const char *name)
{
    static const char *const beginnings[] = {"ld-linux", "ld-musl", "ld64.so", "ld.so", "ld-2."};

    for (size_t i = 0; i < sizeof beginnings / sizeof *beginnings; i++)
        if (strncmp(name, beginnings[i], strlen(beginnings[i])) == 0)
            return true;
    return false;
}

/* glibc's and musl's options that take the next argument as their value. */
static bool takes_value(const char *option)
{
    static const char *const names[] = {
        "--library-path",         "--inhibit-rpath",    "--audit", "--preload", "--argv0",
        "--glibc-hwcaps-prepend", "--glibc-hwcaps-mask"};

    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(option, names[i]) == 0)
            return true;
    return false;
}

const char *loaderline_program(const char *text, size_t len)
{
    const char *end = text + len, *next;
    bool value = true; /* the loader's own name */

    for (const char *s = text; s < end; s = next) {
        const char *nul = memchr(s, '\0', (size_t)(end - s));

        if (!nul)
            return NULL;
        next = nul + 1;
        if (value)
            value = false;
        else if (strncmp(s, "--", 2) != 0)
            return *s ? s : NULL;
        else
            value = takes_value(s);
    }
    return NULL;
}
