#define _GNU_SOURCE /* memmem, memrchr */
#include "fold/collapse_scan.h"

const char *span_find(struct span s, const char *what)
{
    return s.len ? memmem(s.s, s.len, what, strlen(what)) : NULL;
}

size_t span_rchr(struct span s, char ch)
{
    const char *at = s.len ? memrchr(s.s, ch, s.len) : NULL;

    return at ? (size_t)(at - s.s) : SIZE_MAX;
}
