/* A command under the memory recorder: the checks, the library, the run. */
#include <inttypes.h>
#include <stdlib.h>
#include <unistd.h>

#include "common/error.h"
#include "common/sysnr.h"
#include "driver/run/record_faults.h"
#include "driver/run/record_mem.h"
#include "driver/monitor/growthsignal.h"
#include "driver/monitor/trace_ingest.h"
#include "driver/monitor/periodic_thread.h"
#include "patch/find/libcsites.h"

static char *own_options(const struct run_options *o, const struct rundir *rundir, bool filtered)
{
    struct strbuf own = STRBUF_INIT;

    if (o->depth)
        strbuf_addf(&own, "depth=%u", o->depth);
    if (o->sample)
        strbuf_addf(&own, "%ssample=%" PRIu64, own.len ? ":" : "", o->sample);
    if (!o->follow)
        strbuf_addf(&own, "%sfollow=0:unfollowed=%d", own.len ? ":" : "", o->is_test);
    if (o->look)
        strbuf_addf(&own, "%sleak=1", own.len ? ":" : "");
    if (o->look && o->tagged)
        strbuf_addf(&own, "%stagged=1", own.len ? ":" : "");
    if (o->misuse)
        strbuf_addf(&own, "%smisuse=1", own.len ? ":" : "");
    if (o->libc_mappings)
        strbuf_addf(&own, "%ssites=%s/" RUNDIR_SITES, own.len ? ":" : "", rundir->path);
    if (o->no_patch)
        strbuf_addf(&own, "%spatch=0", own.len ? ":" : "");
    if (o->rss)
        strbuf_addf(&own, "%srss=1", own.len ? ":" : "");
    if (o->kept)
        strbuf_addf(&own, "%skept=1", own.len ? ":" : "");
    if (o->lifetimes)
        strbuf_addf(&own, "%slifetimes=%s", own.len ? ":" : "", o->lifetimes);
    if (o->no_python)
        strbuf_addf(&own, "%spython=0", own.len ? ":" : "");
    if (o->touched)
        strbuf_addf(&own, "%stouched=%ld", own.len ? ":" : "", sysconf(_SC_NPROCESSORS_CONF));
    if (o->quiet)
        strbuf_addf(&own, "%squiet=1", own.len ? ":" : "");
    if (o->snapshots)
        strbuf_addf(&own, "%ssnapshots=%s", own.len ? ":" : "", o->snapshots);
    if (rundir->notes.path)
        strbuf_addf(&own, "%snotes=%s", own.len ? ":" : "", rundir->notes.path);
    /* It has one length, so that a program that copies its environment allocates as much in any
     * run. */
    strbuf_addf(&own, "%sfiltered=%d", own.len ? ":" : "", filtered);
    /* The origins of a forked child's inherited blocks are read from other traces: they are useful
     * only if traces are the output. */
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

    strbuf_addf(&path, "%s/" RUNDIR_SITES, rundir->path);
    if (libcsites_find(&sites) == 0 && sitelist_make(&text, &sites, numbers, ARRAY_LEN(numbers)))
        status = recording_write_text(&text, path.buf);
    else
        status = flame_error(FLAME_FAILED,
                             "mem: --libc-mappings: the calls of the C library cannot be found");
    sites_release(&sites);
    strbuf_release(&path);
    strbuf_release(&text);
    return !status;
}

static int make_environment(struct record_mem *m, struct recording *r, const struct run_options *o,
                            bool filtered)
{
    char *preloadable = rundir_preloadable(&r->rundir, m->shim);
    char *own;

    if (!preloadable || (o->libc_mappings && !write_sites(&r->rundir))) {
        free(preloadable);
        return FLAME_FAILED;
    }
    own = own_options(o, &r->rundir, filtered);
    m->options = launch_options(r->rundir.pattern, getenv("FLAMEMEM_OPTIONS"), own);
    m->preload = launch_preload_list(preloadable, getenv("LD_PRELOAD"));
    free(own);
    free(preloadable);
    return 0;
}

int record_mem_prepare(struct record_mem *m, struct recording *r, const struct run_options *o,
                       bool filtered)
{
    int status = launch_find_shim(&m->shim);

    if (!status && o->moments && !o->shows_moments)
        status = flame_error(FLAME_USAGE,
                             "%s: --moments: -o %s has no room for moments; take one that ends in "
                             ".flame or .html",
                             o->me, o->output);
    if (!status)
        status = target_find(o->command[0], &m->program);
    if (!status)
        launch_choose_shim(m->program, &m->shim);
    if (!status)
        status = o->waits_suffice ? target_check_waits(m->program, m->shim, &m->memory)
                                  : target_check(m->program, m->shim);
    if (!status && o->touched)
        status = record_faults_check(o);
    if (!status)
        status = rundir_open(&r->rundir, o->me, o->output, o->max_disk);
    if (status || m->memory == TARGET_NO_MEMORY)
        return status;
    return make_environment(m, r, o, filtered);
}

static void begin_moments(struct record_mem *m, struct recording *r, const struct run_options *o)
{
    r->taken.moments = r->moments = momentwatch_new(r->rundir.path, &o->pace);
    if (o->pace.on_signal)
        m->passes = growthsignal_start(o->pace.on_signal, momentwatch_look_now, r->moments);
    else
        m->moments =
            periodic_thread_start(momentwatch_look, momentwatch_first(r->moments), r->moments);
}

void record_mem_begin(struct record_mem *m, struct recording *r, const struct run_options *o)
{
    r->watch = rss_sampler_start(r->rundir.path);
    if (o->growth_ns || o->growth_signal)
        r->taken.growth = r->growth = growthwatch_new(r->rundir.path, o->growth_ns);
    if (o->growth_signal) {
        m->passes = growthsignal_start(o->growth_signal, growthwatch_look_now, r->growth);
        growthwatch_ask(r->growth, growthsignal_passes, m->passes);
    }
    if (o->growth_ns)
        m->looks =
            periodic_thread_start(growthwatch_look, (unsigned)(o->growth_ns / 1000000u), r->growth);
    if (o->moments)
        begin_moments(m, r, o);
    if (o->kind != RUN_OUTPUT_TRACE)
        m->intake = trace_ingest_start(&r->rundir, &r->taken);
    r->taken.ends_known = m->intake != NULL;
}

void record_mem_end(struct record_mem *m, struct recording *r)
{
    rss_sampler_stop(r->watch);
    periodic_thread_stop(m->looks);
    periodic_thread_stop(m->moments);
    growthsignal_stop(m->passes);
    if (r->moments) /* finds processes that have ended, and when */
        momentwatch_look_now(r->moments);
    trace_ingest_stop(m->intake);
}

void record_mem_release(struct record_mem *m)
{
    free(m->program);
    free(m->shim);
    free(m->preload);
    free(m->options);
}

int record_mem(struct recording *r, const struct run_options *o)
{
    struct record_mem m = {.program = NULL};
    struct record_faults *faults = NULL;
    int status = record_mem_prepare(&m, r, o, false);

    if (!status && o->faults)
        status = record_faults_begin(&faults, &r->rundir, o);
    if (!status) {
        record_mem_begin(&m, r, o);
        status = launch_run(o->command, m.preload, m.options, &r->run);
        record_mem_end(&m, r);
        record_faults_end(faults, o->quiet);
    }
    record_mem_release(&m);
    return status;
}
