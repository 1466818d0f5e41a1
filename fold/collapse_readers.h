/*
 * collapse_readers.h: the readers' entry points, for the table of readers only.
 * What probe and run must do is in collapse.h.
 */
#ifndef FLAME_FOLD_COLLAPSE_READERS_H
#define FLAME_FOLD_COLLAPSE_READERS_H

#include "fold/collapse.h"

#define COLLAPSE_READER(name)                                                                      \
    int collapse_##name##_probe(const char *text, size_t len);                                     \
    void collapse_##name##_run(struct collapse *c)

COLLAPSE_READER(folded);
COLLAPSE_READER(perf);

#endif
