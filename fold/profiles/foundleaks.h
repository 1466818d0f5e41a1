/*
 * foundleaks.h: what the readers of leak reports share. A leak has a kind, which becomes the frame
 * at the root ("[definitely lost]"), bytes, and objects; `--type` picks which of the two counts.
 */
#ifndef FLAME_FOLD_PROFILES_FOUNDLEAKS_H
#define FLAME_FOLD_PROFILES_FOUNDLEAKS_H

#include "fold/collapse/collapse.h"
#include "fold/stacks/span.h"

struct leak {
    const char *kind; /* a constant; NULL: no leak is open */
    struct stackset_count bytes, objects;
};

/* Whether objects are what counts; false after an error of the input, too. */
bool leaks_count_objects(struct collapse *c);
/* Flushes the frames that were pushed, leaf first, and ends the leak; drops them without one. */
void leak_end(struct collapse *c, struct leak *leak, bool objects);

/* Takes "1,234" off the front of *s. */
bool leak_number(struct span *s, struct stackset_count *out);
/*
 * "280 (56 direct, 224 indirect) bytes in 1 blocks are definitely lost in ...", as memcheck says it
 * in text and in XML: the direct bytes, as the indirect ones have records of their own. False: it
 * is no such line, and *leak is as it was.
 */
bool leak_of_memcheck(struct span line, struct leak *leak);

#endif
