/*
 * The table of readers, and which of them a file is for.
 *
 * Every reader looks at how the file begins and says how sure it is; the surest
 * has it, the first of them when several are. Formats that say what they are
 * (a header, a keyword) are surer than those that only have a shape.
 */
#include "fold/collapse_readers.h"

#define READER(kind, text, function)                                                               \
    {                                                                                              \
        kind, text, collapse_##function##_probe, collapse_##function##_run                         \
    }

const struct collapse_kind collapse_kinds[] = {
    READER("perf", "perf script", perf),
    READER("folded", "folded stacks", folded),
    {NULL, NULL, NULL, NULL},
};

const struct collapse_kind *collapse_kind_find(const char *name)
{
    for (const struct collapse_kind *k = collapse_kinds; k->name; k++)
        if (strcmp(k->name, name) == 0)
            return k;
    return NULL;
}

const struct collapse_kind *collapse_kind_guess(const char *text, size_t len)
{
    const struct collapse_kind *best = NULL;
    int sure = 0;

    for (const struct collapse_kind *k = collapse_kinds; k->name; k++) {
        int s = k->probe ? k->probe(text, len) : 0;

        if (s > sure) {
            best = k;
            sure = s;
        }
    }
    return best;
}
