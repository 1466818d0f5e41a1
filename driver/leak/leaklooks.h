/*
 * leaklooks.h: which processes of a run have looked for leaks at their ends, or marked passes.
 */
#ifndef FLAME_DRIVER_LEAK_LEAKLOOKS_H
#define FLAME_DRIVER_LEAK_LEAKLOOKS_H

#include "driver/watch/taken.h"

struct leak_looks {
    const struct taken_process **seen, **unseen; /* each process once; taken's */
    size_t nseen, nunseen;
    bool growth;
};

/* A process that executed another program went on as that: it has looked if any of its
 * programs has, and goes by the last. With `growth` those have looked whose passes could be
 * compared. */
void leak_looks_make(struct leak_looks *s, const struct taken *k, bool growth);
void leak_looks_release(struct leak_looks *s);

/* Says in a line each which have and which have not. */
void leak_looks_print(const struct leak_looks *s);

#endif
