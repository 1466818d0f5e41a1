#include "tracer/openregions.h"

#include <stdlib.h>

#include "common/alloc.h"

/* Most names of marks for a thread; marks with further names are dropped. */
#define PASSES_MOST 64u

static void push(struct openregions *o, struct regionlog *log, const char *name, size_t len,
                 uint64_t time)
{
    if (o->n == OPENREGIONS_DEEP || o->too_deep) {
        o->too_deep++; /* regions end in the reverse order of their beginnings, so those inside it
                          are dropped as well */
        regionlog_add(log, 0, 0, time, time, 0);
        return;
    }
    if (!o->open)
        o->open = xcalloc(OPENREGIONS_DEEP, sizeof *o->open);
    o->open[o->n++] = (struct openregion){.begin = time, .number = regionlog_name(log, name, len)};
}

static void pop(struct openregions *o, struct regionlog *log, uint16_t thread, uint64_t time)
{
    if (o->too_deep) {
        o->too_deep--;
        return;
    }
    if (!o->n)
        return;
    o->n--;
    regionlog_add(log, thread, o->open[o->n].number, o->open[o->n].begin, time, 0);
}

static void pass(struct openregions *o, struct regionlog *log, uint16_t thread, const char *name,
                 size_t len, uint64_t time)
{
    uint32_t number = regionlog_name(log, name, len);
    size_t i = 0;

    while (i < o->npasses && o->passes[i].number != number)
        i++;
    if (i < o->npasses) {
        regionlog_add(log, thread, number, o->passes[i].begin, time, TRACE_REGION_PASS);
        o->passes[i].begin = time;
    } else if (number && o->npasses < PASSES_MOST) {
        GROW(o->passes, o->npasses, o->passes_room);
        o->passes[o->npasses++] = (struct openregion){.begin = time, .number = number};
    }
}

void openregions_marker(struct openregions *o, struct regionlog *log, uint16_t thread,
                        enum ring_region what, const char *name, size_t len, uint64_t time)
{
    if (what == RING_REGION_OPEN)
        push(o, log, name, len, time);
    else if (what == RING_REGION_CLOSE)
        pop(o, log, thread, time);
    else
        pass(o, log, thread, name, len, time);
}

void openregions_end(struct openregions *o, struct regionlog *log, uint16_t thread, uint64_t time)
{
    while (o->n) {
        o->n--;
        regionlog_add(log, thread, o->open[o->n].number, o->open[o->n].begin, time,
                      TRACE_REGION_CUT);
    }
    free(o->open);
    free(o->passes);
    *o = (struct openregions){.open = NULL};
}
