/* From ids of a file to places in an array; see idindex.h. */
#include "fold/decode/idindex.h"

#include <stdlib.h>

#include "common/alloc.h"

void idindex_add(struct idindex *x, uint64_t id)
{
    GROW(x->pairs, x->n, x->alloc);
    x->pairs[x->n] = (struct idindex_pair){id, x->n};
    x->n++;
    if (id > x->greatest)
        x->greatest = id;
}

static int by_id(const void *pa, const void *pb)
{
    const struct idindex_pair *a = pa, *b = pb;

    if (a->id != b->id)
        return a->id < b->id ? -1 : 1;
    return (a->at > b->at) - (a->at < b->at);
}

static bool make_dense(struct idindex *x, size_t *twice)
{
    x->dense = xcalloc((size_t)x->greatest + 1, sizeof *x->dense);
    for (size_t i = 0; i < x->n; i++) {
        uint32_t *to = &x->dense[x->pairs[i].id];

        *twice = i;
        if (*to)
            return false;
        *to = (uint32_t)i + 1;
    }
    return true;
}

bool idindex_finish(struct idindex *x, size_t *twice)
{
    if (x->greatest / 4 < x->n + 256 && x->n < UINT32_MAX)
        return make_dense(x, twice);
    qsort(x->pairs, x->n, sizeof *x->pairs, by_id);
    for (size_t i = 1; i < x->n; i++)
        if (x->pairs[i].id == x->pairs[i - 1].id) {
            *twice = x->pairs[i].at;
            return false;
        }
    return true;
}

size_t idindex_find(const struct idindex *x, uint64_t id)
{
    size_t from = 0, to = x->n;

    if (x->dense)
        return id <= x->greatest && x->dense[id] ? x->dense[id] - 1 : SIZE_MAX;
    while (from < to) {
        size_t mid = from + (to - from) / 2;

        if (x->pairs[mid].id < id)
            from = mid + 1;
        else
            to = mid;
    }
    return from < x->n && x->pairs[from].id == id ? x->pairs[from].at : SIZE_MAX;
}

void idindex_release(struct idindex *x)
{
    free(x->pairs);
    free(x->dense);
    *x = (struct idindex){0};
}
