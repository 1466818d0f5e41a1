/*
 * keptmembers.h: names of the words of variables by their types (fold/members/), found in a child
 * (keptchild.h). The answers are remembered, as processes of a run ask the same of the same files.
 *
 * Not thread-safe.
 */
#ifndef FLAME_DRIVER_KEPT_KEPTMEMBERS_H
#define FLAME_DRIVER_KEPT_KEPTMEMBERS_H

#include "driver/kept/keptnames.h"

struct keptmember {
    uintptr_t at;     /* address of the word */
    uint32_t offset;  /* in the variable */
    const char *name; /* the answer: ".list", "[3].next"; lives as long as flame. NULL: not known */
};

/* Sets the names of `n` words. */
void keptmembers_name(struct keptnames *names, struct keptmember *m, size_t n);

#endif
