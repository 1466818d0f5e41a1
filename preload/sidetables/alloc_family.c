#include "preload/sidetables/alloc_family.h"

#include "common/pages.h"

#define ROWS ((size_t)1 << 26) /* the limit of rows in the shadow map */
#define MIXED 255

static uint8_t *made; /* families by row */

bool alloc_family_begin(void)
{
    if (!made)
        made = pages_alloc(ROWS);
    return made != NULL;
}

void alloc_family_note(uint32_t row, enum trace_made by)
{
    uint8_t was = __atomic_load_n(&made[row], __ATOMIC_RELAXED);

    if (was != by && was != MIXED)
        __atomic_store_n(&made[row], was ? MIXED : (uint8_t)by, __ATOMIC_RELAXED);
}

enum trace_made alloc_family_of(uint32_t row)
{
    uint8_t by = __atomic_load_n(&made[row], __ATOMIC_RELAXED);

    return by == MIXED ? TRACE_MADE_UNKNOWN : (enum trace_made)by;
}
