/* A command under the memory recorder: the checks, the library, the run. */
#include <inttypes.h>
#include <stdlib.h>

#include "common/error.h"
#include "driver/intake.h"
#include "driver/recording.h"
#include "driver/target.h"

static char *own_options(const struct run_options *o, const struct session *session)
{
    struct strbuf own = STRBUF_INIT;

    if (o->depth)
        strbuf_addf(&own, "depth=%u", o->depth);
    if (o->sample)
        strbuf_addf(&own, "%ssample=%" PRIu64, own.len ? ":" : "", o->sample);
    if (!o->follow)
        strbuf_addf(&own, "%sfollow=0", own.len ? ":" : "");
    if (o->look)
        strbuf_addf(&own, "%sleak=1", own.len ? ":" : "");
    if (o->quiet)
        strbuf_addf(&own, "%squiet=1", own.len ? ":" : "");
    if (session->lock >= 0)
        strbuf_addf(&own, "%snotes=%s", own.len ? ":" : "", session->notes);
    /* Only traces that stay can be asked what a forked child had of its parent's blocks. */
    if (o->kind != RUN_OUTPUT_TRACE)
        strbuf_addf(&own, "%sinherit=0", own.len ? ":" : "");
    return strbuf_detach(&own, NULL);
}

static int run(struct recording *r, const struct run_options *o, const char *shim)
{
    const char *preloadable = session_preloadable(&r->session, shim);
    struct intake *intake = NULL;
    char *own, *options, *preload;
    int status;

    if (!preloadable)
        return FLAME_FAILED;
    own = own_options(o, &r->session);
    options = launch_options(r->session.pattern, getenv("FLAMEMEM_OPTIONS"), own);
    preload = launch_preload_list(preloadable, getenv("LD_PRELOAD"));
    r->watch = watch_start(r->session.dir);
    if (o->kind != RUN_OUTPUT_TRACE)
        intake = intake_start(&r->session, &r->taken);
    r->taken.ends_known = intake != NULL;
    status = launch_run(o->command, preload, options, &r->run);
    watch_stop(r->watch);
    intake_stop(intake);
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
        status = session_open(&r->session, o->me, o->output, o->max_disk);
    if (!status)
        status = run(r, o, shim);
    free(path);
    free(shim);
    return status;
}
