#include "common/error.h"

#include <stdarg.h>
#include <stdio.h>
#include <unistd.h>

static void say(const char *fmt, va_list ap)
{
    char line[2048] = "flame: ";
    size_t at = strlen(line);
    int n = vsnprintf(line + at, sizeof line - at - 1, fmt, ap);
    size_t end = n < 0 ? at : at + (size_t)n;

    if (end > sizeof line - 2)
        end = sizeof line - 2;
    for (size_t i = at; i < end; i++)
        if ((unsigned char)line[i] < 0x20 || line[i] == 0x7f)
            line[i] = '?';
    line[end++] = '\n';
    fflush(stdout);
    /* A closed or full standard error leaves nobody to tell. */
    if (write(STDERR_FILENO, line, end) < 0)
        return;
}

int flame_error(int status, const char *fmt, ...)
{
    va_list ap;

    va_start(ap, fmt);
    say(fmt, ap);
    va_end(ap);
    return status;
}

void flame_warn(const char *fmt, ...)
{
    va_list ap;

    va_start(ap, fmt);
    say(fmt, ap);
    va_end(ap);
}
