#include "tracer/output/regionlog.h"

#include <stdlib.h>
#include <uthash.h>

#include "common/alloc.h"

struct name {
    uint32_t number; /* its number plus one */
    UT_hash_handle hh;
    char text[];
};

struct regionlog {
    struct trace_writer *w;
    struct name *names;
    uint32_t nnames, n;
    uint64_t lost;
    void *lost_at; /* place of that number in the file; NULL: not written yet */
};

struct regionlog *regionlog_new(struct trace_writer *w)
{
    struct regionlog *l = xcalloc(1, sizeof *l);

    l->w = w;
    return l;
}

void regionlog_free(struct regionlog *l)
{
    struct name *n, *next;

    if (!l)
        return;
    HASH_ITER (hh, l->names, n, next) {
        HASH_DEL(l->names, n);
        free(n);
    }
    free(l);
}

uint32_t regionlog_name(struct regionlog *l, const char *name, size_t len)
{
    struct name *n;

    HASH_FIND(hh, l->names, name, len, n);
    if (n)
        return n->number;
    if (l->nnames == REGIONLOG_NAMES ||
        !trace_writer_meta(l->w, TRACE_META_REGION, name, len, NULL, 0, NULL))
        return 0;
    n = xcalloc(1, sizeof *n + len + 1);
    memcpy(n->text, name, len);
    n->number = ++l->nnames;
    HASH_ADD_KEYPTR(hh, l->names, n->text, len, n);
    return n->number;
}

static void lose(struct regionlog *l)
{
    l->lost++;
    if (!l->lost_at)
        l->lost_at = trace_writer_meta(l->w, TRACE_META_REGIONS_LOST, &l->lost, sizeof l->lost,
                                       NULL, 0, NULL);
    else
        memcpy(l->lost_at, &l->lost, sizeof l->lost);
}

void regionlog_add(struct regionlog *l, uint16_t thread, uint32_t number, uint64_t begin,
                   uint64_t end, enum trace_region_flag flags)
{
    const struct trace_region_time r = {.begin_ns = begin,
                                        .end_ns = end > begin ? end : begin,
                                        .region = number - 1,
                                        .thread = thread,
                                        .flags = (uint16_t)flags};

    if (!number || l->n == REGIONLOG_MOST ||
        !trace_writer_meta(l->w, TRACE_META_REGION_TIME, &r, sizeof r, NULL, 0, NULL))
        lose(l);
    else
        l->n++;
}
