#define _GNU_SOURCE /* memmem, memrchr */
#include "fold/stacks/span.h"

const char *span_find(struct span s, const char *what)
{
    return s.len ? memmem(s.s, s.len, what, strlen(what)) : NULL;
}

size_t span_last_open(struct span s)
{
    for (size_t i = s.len; i > 0; i--)
        if (s.s[i - 1] == '(' && (i == 1 || s.s[i - 2] == ' '))
            return i - 1;
    return SIZE_MAX;
}

size_t span_rchr(struct span s, char ch)
{
    const char *at = s.len ? memrchr(s.s, ch, s.len) : NULL;

    return at ? (size_t)(at - s.s) : SIZE_MAX;
}
