/*
 * idindex.h: from the ids that a file gives its records to their numbers in an array. Ids are
 * any 64 bits: nearly dense ones are looked up in an array, others by bisection. Not thread-safe
 * while ids are added.
 */
#ifndef FLAME_FOLD_DECODE_IDINDEX_H
#define FLAME_FOLD_DECODE_IDINDEX_H

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

/* Adds the id of the next record. Records are numbered from 0 in the order of these calls. */
void idindex_add(struct idindex *x, uint64_t id);
/*
 * Call it when all are added. False: two records have one id, and *twice is the number of the
 * second; the index must only be released.
 */
bool idindex_finish(struct idindex *x, size_t *twice);
/* The number of the record with this id, or SIZE_MAX. */
size_t idindex_find(const struct idindex *x, uint64_t id);
/* Frees what it holds; it is empty afterwards. */
void idindex_release(struct idindex *x);

#endif
