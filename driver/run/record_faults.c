#include "driver/run/record_faults.h"

#include <inttypes.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#include "common/alloc.h"
#include "common/error.h"
#include "tracer/faults/faultrecorder.h"
#include "tracer/faults/faultsource.h"

/* Copied of the stack with each fault, and bytes of all processors' rings, which are memory that
 * cannot be swapped out. */
#define STACK 16384
#define RINGS ((size_t)64 << 20)
#define LEAST_RINGS ((size_t)128 << 10)
#define DEPTH 1024
#define PAUSE_MS 20

struct record_faults {
    struct fault_source *source;
    struct faultrecorder *recorder;
    pthread_t thread;
    bool runs;
    bool ended; /* the command has */
    uint64_t pages, lost;
    bool damaged;
};

/* Reads all faults that are in the buffers now. */
static void drain(struct record_faults *f)
{
    struct fault_record r;

    for (int round = 0; round < 2; round++)
        while (fault_source_next(f->source, &r) != FAULT_NONE) {
            f->pages += r.kind == FAULT_PAGE;
            f->lost += r.kind == FAULT_LOST ? r.lost : 0;
            f->damaged |= r.kind == FAULT_DAMAGED;
            faultrecorder_take(f->recorder, &r,
                               r.kind == FAULT_PAGE && fault_source_is_major(f->source, &r));
        }
}

static void *work(void *arg)
{
    struct record_faults *f = arg;

    while (!__atomic_load_n(&f->ended, __ATOMIC_ACQUIRE)) {
        fault_source_wait(f->source, PAUSE_MS);
        drain(f);
    }
    return NULL;
}

/* The thread blocks signals: they are for the thread that forwards them. */
static bool start_thread(struct record_faults *f)
{
    sigset_t all, before;

    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    f->runs = pthread_create(&f->thread, NULL, work, f) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return f->runs;
}

static void release(struct record_faults *f)
{
    faultrecorder_free(f->recorder);
    fault_source_close(f->source);
    free(f);
}

int record_faults_begin(struct record_faults **to, const struct rundir *dir,
                        const struct run_options *o)
{
    const struct fault_wishes wishes = {
        .stack = STACK, .ring = RINGS / (size_t)sysconf(_SC_NPROCESSORS_CONF), .after_exec = true};
    unsigned depth = o->depth ? o->depth : DEPTH;
    struct record_faults *f = xcalloc(1, sizeof *f);
    struct strbuf text = STRBUF_INIT;
    int status = 0;

    *to = NULL;
    f->source = fault_source_open(0, &wishes, &text);
    if (!f->source)
        status = flame_error(FLAME_FAILED, "%s: --view fault: %s", o->me, text.buf);
    if (!status) {
        f->recorder = faultrecorder_new(dir->path, depth);
        if (!start_thread(f))
            status = flame_error(FLAME_FAILED, "%s: --view fault: no thread can be had", o->me);
    }
    strbuf_release(&text);
    if (status)
        release(f);
    else
        *to = f;
    return status;
}

int record_faults_check(const struct run_options *o)
{
    const struct fault_wishes wishes = {.ring = LEAST_RINGS};
    struct strbuf text = STRBUF_INIT;
    struct fault_source *source = fault_source_open(0, &wishes, &text);
    int status = 0;

    if (source)
        fault_source_close(source);
    else
        status = flame_error(FLAME_FAILED, "%s: --view touched: %s", o->me, text.buf);
    strbuf_release(&text);
    return status;
}

void record_faults_end(struct record_faults *f, bool quiet)
{
    if (!f)
        return;
    __atomic_store_n(&f->ended, true, __ATOMIC_RELEASE);
    pthread_join(f->thread, NULL);
    drain(f);
    if (!quiet && !fault_source_all(f->source))
        flame_warn("page faults within system calls are not counted, as the kernel's events may "
                   "not be read (kernel.perf_event_paranoid, CAP_PERFMON)");
    if (!quiet && f->lost)
        flame_warn("page faults: %" PRIu64 " recorded, and %" PRIu64
                   " records lost, as the kernel does not wait for their reader",
                   f->pages, f->lost);
    if (!quiet && f->damaged)
        flame_warn("page faults: the kernel's records could not be read to their end");
    release(f);
}
