/*
 * foundleaks.h: a leak as reports of leaks have it, for all readers of such reports. A leak has
 * a kind, which becomes the frame at the root ("[definitely lost]"), bytes, and objects;
 * `--type` picks bytes or objects as the count.
 */
#ifndef FLAME_FOLD_PROFILES_FOUNDLEAKS_H
#define FLAME_FOLD_PROFILES_FOUNDLEAKS_H

#include "fold/collapse/collapse.h"
#include "fold/stacks/span.h"

struct leak {
    const char *kind; /* a constant; NULL: no leak is open */
    struct stackset_count bytes, objects;
};

/* Whether the count is of objects; false after an error of the input, too. */
bool leaks_count_objects(struct collapse *c);
/* Flushes the frames that were pushed, leaf first, and ends the leak. Drops the frames if no
 * leak is open. */
void leak_end(struct collapse *c, struct leak *leak, bool objects);

/* Takes "1,234" off the front of *s. */
bool leak_number(struct span *s, struct stackset_count *out);
/*
 * Parses memcheck's "280 (56 direct, 224 indirect) bytes in 1 blocks are definitely lost in
 * ...", from text or XML. Takes the direct bytes, as the indirect ones have records of their
 * own. False: the line has another form, and *leak is unchanged.
 */
bool leak_of_memcheck(struct span line, struct leak *leak);

#endif
