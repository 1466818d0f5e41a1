/*
 * idindex.h: from the ids that a file gives its records to their numbers in an array. Ids are any
 * 64 bits: those that are as good as dense are looked up at once, others among sorted ones. Not
 * thread-safe while ids are added.
 */
#ifndef FLAME_FOLD_COLLAPSE_IDINDEX_H
#define FLAME_FOLD_COLLAPSE_IDINDEX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct idindex {
    struct idindex_pair {
        uint64_t id;
        size_t at;
    } * pairs;
    size_t n, alloc;
    uint64_t greatest;
    uint32_t *dense; /* number + 1 by id; or NULL */
};

/* The next record, whose number is how many there were, has this id. */
void idindex_add(struct idindex *x, uint64_t id);
/*
 * When all are added. False: two records have one id, and *twice is the number of the second;
 * the index must only be released.
 */
bool idindex_finish(struct idindex *x, size_t *twice);
/* The number of the record with this id, or SIZE_MAX. */
size_t idindex_find(const struct idindex *x, uint64_t id);
/* Frees what it holds; it is empty afterwards. */
void idindex_release(struct idindex *x);

#endif
