/* A command under the memory recorder: the checks, the library, the run. */
#include <inttypes.h>
#include <stdlib.h>

#include "common/error.h"
#include "driver/recording.h"
#include "driver/target.h"

static char *own_options(const struct run_options *o)
{
    struct strbuf own = STRBUF_INIT;

    if (o->depth)
        strbuf_addf(&own, "depth=%s", o->depth);
    if (o->sample)
        strbuf_addf(&own, "%ssample=%" PRIu64, own.len ? ":" : "", o->sample);
    if (!o->follow)
        strbuf_addf(&own, "%sfollow=0", own.len ? ":" : "");
    if (o->quiet)
        strbuf_addf(&own, "%squiet=1", own.len ? ":" : "");
    return strbuf_detach(&own, NULL);
}

static int run(struct recording *r, const struct run_options *o, const char *shim)
{
    const char *preloadable = session_preloadable(&r->session, shim);
    char *own, *options, *preload;
    int status;

    if (!preloadable)
        return FLAME_FAILED;
    own = own_options(o);
    options = launch_options(r->session.pattern, getenv("FLAMEMEM_OPTIONS"), own);
    preload = launch_preload_list(preloadable, getenv("LD_PRELOAD"));
    status = launch_run(o->command, preload, options, &r->run);
    free(preload);
    free(options);
    free(own);
    return status;
}

int record_mem(struct recording *r, const struct run_options *o)
{
    char *shim = NULL, *path = NULL;
    int status = launch_find_shim(&shim);

    if (!status)
        status = target_find(o->command[0], &path);
    if (!status)
        status = target_check(path, shim);
    if (!status)
        status = session_open(&r->session, o->me, o->output);
    if (!status)
        status = run(r, o, shim);
    free(path);
    free(shim);
    return status;
}
