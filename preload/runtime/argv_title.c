#define _GNU_SOURCE
#include "preload/runtime/argv_title.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>

#include "common/kernel.h"

#define PAGE 4096u

static char *own; /* argv[0] */
static char
    executed[sizeof(((struct trace_header *)NULL)->title)]; /* its text at the start, truncated */

static bool is_readable(const char *at)
{
    return (uintptr_t)at % PAGE != 0 || kernel_readable((uintptr_t)at, 1);
}

/* Reads the present text of argv[0], truncated. False: it cannot be read, because a program may
 * unmap its first stack. */
static bool read_own(char to[sizeof executed])
{
    size_t n = 0;

    if (!own || !kernel_readable((uintptr_t)own, 1))
        return false;
    while (n < sizeof executed - 1 && is_readable(own + n) && own[n]) {
        to[n] = own[n];
        n++;
    }
    memset(to + n, 0, sizeof executed - n);
    return true;
}

void argv_title_begin(void)
{
    own = program_invocation_name;
    if (!read_own(executed))
        own = NULL;
}

void argv_title_look(struct trace_header *h)
{
    char now[sizeof executed];
    size_t len;

    if (!read_own(now) || strcmp(now, executed) == 0)
        return;
    /* Programs pad the title with blanks on systems that would show the rest of the old
     * arguments. */
    for (len = strlen(now); len && now[len - 1] == ' '; len--)
        now[len - 1] = '\0';
    if (len)
        memcpy(h->title, now, sizeof h->title);
}
