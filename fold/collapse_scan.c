#define _GNU_SOURCE /* memmem */
#include "fold/collapse_scan.h"

const char *span_find(struct span s, const char *what)
{
    return s.len ? memmem(s.s, s.len, what, strlen(what)) : NULL;
}
