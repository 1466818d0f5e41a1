/*
 * The key of the thread's state follows locks of the C library, which have other sizes on other
 * processors. So there are rows only for x86-64.
 */
#include "unwind/python/pylayout.h"

#include <stddef.h>

#include "common/compiler.h"

#if defined(__x86_64__)
static const struct pylayout layouts[] = {PYLAYOUT_3_11, PYLAYOUT_3_12, PYLAYOUT_3_13,
                                          PYLAYOUT_3_14, PYLAYOUT_3_15};
#else
static const struct pylayout layouts[1];
#endif

const struct pylayout *pylayout_of(uint32_t version)
{
    for (size_t i = 0; version && i < ARRAY_LEN(layouts); i++)
        if (layouts[i].version == version)
            return &layouts[i];
    return NULL;
}
