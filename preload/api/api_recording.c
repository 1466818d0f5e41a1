/*
 * Functions of preload/flamemem.h that a program calls itself, except for the leak-check functions
 * (preload/leak/api_leak.c).
 */
#define FLAMEMEM_LIBRARY
#include "preload/api/api_call.h"
#include "preload/api/snapshot.h"
#include "preload/flamemem.h"
#include "preload/leak/scan_stack_limit.h"
#include "preload/tags.h"
#include "preload/sidetables/pausedblocks.h"
#include "preload/sidetables/pools.h"

EXPORT FLAME_NOINLINE int flamemem_snapshot(const char *name)
{
    const void *frame = LOOKFROM_HERE();
    struct api_call a;

    if (!api_call_begin(&a))
        return 0;
    if (feature_on(FEATURE_FAULTS))
        first_touch_drain(DRAIN_ALL);
    lifecycle_look_ages(false);
    lifecycle_look_resident(false);
    return api_call_end(&a, snapshot_make(name, frame));
}

EXPORT int flamemem_pause(void)
{
    struct api_call a;

    if (!api_call_begin(&a))
        return 0;
    if (a.t->paused++ == 0)
        pausedblocks_begin();
    return api_call_end(&a, 1);
}

EXPORT int flamemem_resume(void)
{
    struct api_call a;
    bool paused;

    if (!api_call_begin(&a))
        return 0;
    paused = a.t->paused;
    if (paused && --a.t->paused == 0)
        pausedblocks_end();
    return api_call_end(&a, paused);
}

EXPORT int flamemem_tag_push(const char *name)
{
    struct api_call a;

    return api_call_begin(&a) ? api_call_end(&a, tags_push(a.t, name)) : 0;
}

EXPORT int flamemem_tag_pop(void)
{
    struct api_call a;

    return api_call_begin(&a) ? api_call_end(&a, tags_pop(a.t)) : 0;
}

ASKING_ALSO(flamemem_snapshot, flamemem_ask_snapshot);
ASKING_ALSO(flamemem_pause, flamemem_ask_pause);
ASKING_ALSO(flamemem_resume, flamemem_ask_resume);
ASKING_ALSO(flamemem_tag_push, flamemem_ask_tag_push);
ASKING_ALSO(flamemem_tag_pop, flamemem_ask_tag_pop);
/* Other names for libflamewait.so, which exports the names above, too
 * (inproc/lib/regionhooks.c). */
ASKING_ALSO(flamemem_tag_push, flamemem_own_tag_push);
ASKING_ALSO(flamemem_tag_pop, flamemem_own_tag_pop);

/* ---- the recorder's calls ---- */

static void after_fork(void)
{
    snapshot_after_fork();
    pools_after_fork();
}

const struct lifecycle_listener lifecycle_asked = {
    .started = snapshot_set,
    .forked = after_fork,
};
