#include "preload/runtime/early_environ.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

extern char **environ;
/* The loader's variable: the beginning of the stack, with the number of arguments, the arguments,
 * NULL, and the environment. Not every C library has it. */
extern void *__libc_stack_end __attribute__((weak));

static char **first_environment(void)
{
    const uintptr_t *words = &__libc_stack_end ? __libc_stack_end : NULL;

    return words && words[0] < INT32_MAX && !words[1 + words[0]] ? (char **)(words + 2 + words[0])
                                                                 : NULL;
}

const char *early_getenv(const char *name)
{
    size_t len = strlen(name);
    char **at = environ;

    if (at)
        return getenv(name);
    for (at = first_environment(); at && *at; at++)
        if (strncmp(*at, name, len) == 0 && (*at)[len] == '=')
            return *at + len + 1;
    return NULL;
}
