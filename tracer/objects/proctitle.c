#include "tracer/objects/proctitle.h"

#include <stdbool.h>
#include <string.h>

static bool is_clear(const char *s, size_t len)
{
    for (size_t i = 0; i < len; i++)
        if (s[i])
            return false;
    return true;
}

size_t proctitle_len(const char *cmdline, size_t len)
{
    size_t n = strnlen(cmdline, len);

    if (!is_clear(cmdline + n, len - n))
        return 0;
    /* Some programs pad the unused rest with blanks. */
    while (n && cmdline[n - 1] == ' ')
        n--;
    if (!n || cmdline[0] == '/' || cmdline[0] == '.')
        return 0;
    return memchr(cmdline, ' ', n) || memchr(cmdline, ':', n) ? n : 0;
}
