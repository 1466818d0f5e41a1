/* A command under the memory recorder: the checks, the library, the run. */
#include <inttypes.h>
#include <stdlib.h>

#include "common/error.h"
#include "common/sysnr.h"
#include "driver/run/recording.h"
#include "driver/run/target.h"
#include "driver/watch/growthsignal.h"
#include "driver/watch/intake.h"
#include "driver/watch/ticker.h"
#include "patch/find/libcsites.h"

#define SITES "sites"

static char *own_options(const struct run_options *o, const struct rundir *rundir)
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
    if (o->look && o->tagged)
        strbuf_addf(&own, "%stagged=1", own.len ? ":" : "");
    if (o->misuse)
        strbuf_addf(&own, "%smisuse=1", own.len ? ":" : "");
    if (o->inside)
        strbuf_addf(&own, "%ssites=%s/" SITES, own.len ? ":" : "", rundir->path);
    if (o->quiet)
        strbuf_addf(&own, "%squiet=1", own.len ? ":" : "");
    if (o->snapshots)
        strbuf_addf(&own, "%ssnapshots=%s", own.len ? ":" : "", o->snapshots);
    if (rundir->lock >= 0)
        strbuf_addf(&own, "%snotes=%s", own.len ? ":" : "", rundir->notes);
    /* Only traces that stay can be asked what a forked child had of its parent's blocks. */
    if (o->kind != RUN_OUTPUT_TRACE)
        strbuf_addf(&own, "%sinherit=0", own.len ? ":" : "");
    return strbuf_detach(&own, NULL);
}

/* The C library's own calls that map memory, for the recorder. False after a line. */
static bool write_sites(const struct rundir *rundir)
{
    static const int32_t numbers[] = {SYS_mmap, SYS_munmap, SYS_mremap, SYS_brk};
    struct strbuf path = STRBUF_INIT, text = STRBUF_INIT;
    struct site_list sites = {.sites = NULL};
    int status;

    strbuf_addf(&path, "%s/" SITES, rundir->path);
    if (libcsites_find(&sites) == 0 && sitelist_make(&text, &sites, numbers, ARRAY_LEN(numbers)))
        status = recording_write_text(&text, path.buf);
    else
        status =
            flame_error(FLAME_FAILED, "mem: --inside: the calls of the C library cannot be found");
    sites_release(&sites);
    strbuf_release(&path);
    strbuf_release(&text);
    return !status;
}

static int run(struct recording *r, const struct run_options *o, const char *shim)
{
    const char *preloadable = rundir_preloadable(&r->rundir, shim);
    struct intake *intake = NULL;
    struct growthsignal *passes = NULL;
    struct ticker *looks = NULL;
    char *own, *options, *preload;
    int status;

    if (!preloadable || (o->inside && !write_sites(&r->rundir)))
        return FLAME_FAILED;
    own = own_options(o, &r->rundir);
    options = launch_options(r->rundir.pattern, getenv("FLAMEMEM_OPTIONS"), own);
    preload = launch_preload_list(preloadable, getenv("LD_PRELOAD"));
    r->watch = watch_start(r->rundir.path);
    if (o->growth_ns || o->growth_signal)
        r->taken.growth = r->growth = growthwatch_new(r->rundir.path, o->growth_ns);
    if (o->growth_signal)
        passes = growthsignal_start(o->growth_signal, r->growth);
    if (o->growth_ns)
        looks = ticker_start(growthwatch_look, (unsigned)(o->growth_ns / 1000000u), r->growth);
    if (o->kind != RUN_OUTPUT_TRACE)
        intake = intake_start(&r->rundir, &r->taken);
    r->taken.ends_known = intake != NULL;
    status = launch_run(o->command, preload, options, &r->run);
    watch_stop(r->watch);
    ticker_stop(looks);
    growthsignal_stop(passes);
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
        status = rundir_open(&r->rundir, o->me, o->output, o->max_disk);
    if (!status)
        status = run(r, o, shim);
    free(path);
    free(shim);
    return status;
}
