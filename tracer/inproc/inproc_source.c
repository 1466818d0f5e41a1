#define _GNU_SOURCE
#include "tracer/inproc/inproc_source.h"

#include <sched.h>
#include <stdlib.h>

#include "common/alloc.h"
#include "common/error.h"
#include "common/strbuf.h"
#include "common/sysnr.h"
#include "inproc/gate.h"
#include "inproc/syscall_mark.h"
#include "inproc/rseq.h"
#include "inproc/reader/unsupported.h"
#include "patch/find/libcsites.h"
#include "tracer/offcpu/calls.h"
#include "tracer/inproc/pace.h"
#include "tracer/inproc/ringevents.h"

#ifndef CLOSE_RANGE_UNSHARE
#define CLOSE_RANGE_UNSHARE 2
#endif

/* Threads that can log at a time; calls of others stop. */
#define RINGS 1024

static const int noted[] = {
    SYS_futex,        SYS_nanosleep, SYS_clock_nanosleep, SYS_read,       SYS_readv,
    SYS_write,        SYS_writev,    SYS_recvfrom,        SYS_recvmsg,    SYS_sendto,
    SYS_sendmsg,      SYS_accept,    SYS_accept4,         SYS_epoll_wait, SYS_epoll_pwait,
    SYS_epoll_pwait2, SYS_poll,      SYS_ppoll,           SYS_select,     SYS_pselect6,
    SYS_connect,      SYS_pread64,   SYS_preadv,          SYS_pwrite64,   SYS_pwritev,
    SYS_sendfile,     SYS_open,      SYS_openat,          SYS_openat2,    SYS_creat,
    SYS_getdents,     SYS_getdents64};
/* Calls that the library handles in another way: descriptors of files, and those of
 * handled_still. */
static const int handled[] = {SYS_close, SYS_fstat, SYS_newfstatat, SYS_unshare};
/* Calls that the library also handles when no tracer reads any more: sandboxes, changes of user,
 * and calls that remove or change the clock or TLS. */
static const int handled_still[] = {
    SYS_mlockall, SYS_prctl,  SYS_seccomp, SYS_arch_prctl, SYS_setns,    SYS_mmap,     SYS_mprotect,
    SYS_mremap,   SYS_munmap, SYS_brk,     SYS_setuid,     SYS_setreuid, SYS_setresuid};

struct inproc {
    struct inproc_client client;
    struct shm_server *session;
    struct shm_server_client reported;
    struct ringevents *events;
    struct strbuf environment;
    uintptr_t marked; /* place of marked calls; 0: no call is marked */
    uint64_t beat_ns;
    struct {
        unsigned n; /* threads whose rings cannot be read */
        pid_t first;
        const char *why;
    } damaged;
};

static void add_calls(uint64_t bits[SHM_CALLS / 64], const int *calls, size_t n)
{
    for (size_t i = 0; i < n; i++)
        bits[calls[i] / 64] |= 1ull << calls[i] % 64;
}

/* ---- records and events ---- */

static uint32_t on_stack(void *arg, pid_t tid, const uint64_t *pcs, size_t n)
{
    struct inproc *i = arg;

    return i->client.stack(i->client.arg, tid, pcs, n);
}

static uint64_t on_function(void *arg, const char *name, size_t len)
{
    struct inproc *i = arg;

    return i->client.function ? i->client.function(i->client.arg, name, len) : 0;
}

static void on_record(void *arg, enum ring_result what, const struct ring_reader *r)
{
    struct inproc *i = arg;

    if (what == RING_MARKER)
        i->client.region(i->client.arg, r->tid, r->region.what, r->region.name, r->region.len,
                         r->time);
    else
        ringevents_record(i->events, what, r);
}

static void on_damage(void *arg, const struct ring_reader *r)
{
    struct inproc *i = arg;

    if (!i->damaged.n++) {
        i->damaged.first = r->tid;
        i->damaged.why = r->damage;
    }
}

static void on_event(void *arg, const struct off_event *e, uint32_t stack)
{
    struct inproc *i = arg;

    if (!i->client.event(i->client.arg, e, stack))
        shm_server_close_ring(i->session, e->tid);
}

/* ---- the beginning ---- */

/* Return address, within its page, of the only code in the C library that makes the calls of
 * cancellation points; 0: there is none, or more than one. */
static uintptr_t place_of_marks(const struct site_list *sites)
{
    uintptr_t place = 0;

    for (size_t i = 0; i < sites->n; i++) {
        const struct patch_site *s = &sites->sites[i];

        if (s->kind != SITE_NONE || s->reason != SITE_CANCELLATION)
            continue;
        if (place)
            return 0;
        place = (s->call + s->call_size) % SYSCALL_MARK_PAGE;
    }
    return place;
}

struct inproc *inproc_new(const struct inproc_client *client, const char **why)
{
    struct ringevents_client events = {.event = on_event};
    struct site_list sites = {.sites = NULL};
    struct shm_server_options o = {.rings = RINGS, .modules = &sites, .nmodules = 1};
    struct inproc *i;
    int err, filters;

    if (libcsites_find(&sites) < 0 || !sites.n) {
        *why = "the calls of the C library cannot be found";
        sites_release(&sites);
        return NULL;
    }
    i = xcalloc(1, sizeof *i);
    i->client = *client;
    i->beat_ns = PACE_LEAST_NS;
    add_calls(o.calls, noted, ARRAY_LEN(noted));
    add_calls(o.calls, handled, ARRAY_LEN(handled));
    add_calls(o.calls, handled_still, ARRAY_LEN(handled_still));
    o.sequences = rseq_tells();
    o.python = client->function != NULL;
    filters = syscall_mark_filters();
    if (filters >= 0) {
        o.filters = (uint32_t)filters + 2; /* our own filter is one more, in the command */
        i->marked = place_of_marks(&sites);
        o.marks = i->marked != 0;
    }
    err = shm_server_new(&i->session, &o);
    sites_release(&sites);
    if (err) {
        *why = "the memory of the run cannot be made";
        free(i);
        return NULL;
    }
    i->reported =
        (struct shm_server_client){.ring = {.arg = i, .stack = on_stack, .function = on_function},
                                   .event = on_record,
                                   .damaged = on_damage};
    events.arg = i;
    i->events = ringevents_new(&events);
    i->environment = (struct strbuf)STRBUF_INIT;
    strbuf_addf(&i->environment, SHM_ENV "=%s", shm_server_name(i->session));
    return i;
}

uintptr_t inproc_lets_by(const struct inproc *i)
{
    (void)i;
    return GATE_RETURN;
}

uintptr_t inproc_marked(const struct inproc *i)
{
    return i->marked;
}

const char *inproc_environment(const struct inproc *i)
{
    return i->environment.buf;
}

/* ---- the run ---- */

void inproc_drain(struct inproc *i, uint64_t until)
{
    shm_server_drain(i->session, until, &i->reported);
}

uint64_t inproc_beat(struct inproc *i)
{
    i->beat_ns = pace_next(i->beat_ns, shm_server_fill(i->session));
    return i->beat_ns;
}

/* Updates the session's knowledge of a process's descriptors by a call that stops. */
static void look_at_descriptors(struct inproc *i, const struct off_event *e)
{
    const struct call *c = call_find(e->nr);

    if (!c)
        return;
    if (c->flags & CALL_CLOSES)
        shm_server_file_closes(i->session, e->pid, (int)e->args[c->fd_arg]);
    else if (c->flags & CALL_CLOSES_MANY && e->args[2] & CLOSE_RANGE_UNSHARE)
        shm_server_files_hidden(i->session, e->pid);
    else if (c->flags & CALL_CLOSES_MANY)
        shm_server_file_closes(i->session, e->pid, -1);
    else if (c->flags & CALL_IN_RING)
        shm_server_files_hidden(i->session, e->pid);
    else if (c->object == CALL_ON_FD || c->object == CALL_ON_LOCK || c->object == CALL_ON_MQUEUE)
        shm_server_file_used(i->session, e->pid, (int)e->args[c->fd_arg]);
}

bool inproc_stopped(struct inproc *i, const struct off_event *e)
{
    if (e->kind == OFF_ENTRY)
        look_at_descriptors(i, e);
    if (e->kind == OFF_SIGNAL)
        return ringevents_signal(i->events, e);
    return ringevents_stopped(i->events, e);
}

void inproc_clone(struct inproc *i, pid_t parent, pid_t child, uint64_t flags)
{
    if (!child) {
        shm_server_lend(i->session, parent, false);
        ringevents_back(i->events, parent);
    } else if (flags & CLONE_VM && !(flags & CLONE_SETTLS)) {
        /* Parent and child share the word that holds the ring's owner. */
        if (flags & CLONE_VFORK) {
            shm_server_lend(i->session, parent, true);
            ringevents_lend(i->events, parent, child);
        } else {
            shm_server_close_ring(i->session, parent);
        }
    }
    /* Descriptors are shared where memory is not, or the other way round. */
    if (child && !(flags & CLONE_FILES) != !(flags & CLONE_VM && !(flags & CLONE_VFORK)))
        shm_server_files_hidden(i->session, 0);
}

void inproc_signal(struct inproc *i, pid_t tid, uint64_t now)
{
    shm_server_handled(i->session, tid, now);
}

void inproc_exit(struct inproc *i, pid_t tid)
{
    shm_server_thread_gone(i->session, tid);
    ringevents_gone(i->events, tid);
}

void inproc_process_exit(struct inproc *i, pid_t pid)
{
    shm_server_files_gone(i->session, pid);
}

void inproc_print_unsupported(const struct inproc *i)
{
    bool sound = true;

    for (unsigned why = 1; why < SHM_REFUSALS; why++)
        sound = sound && unsupported_is_sound(i->session, (enum shm_refusal)why);
    if (!sound)
        flame_warn("a program of the run has overwritten what its processes report: the figures of "
                   "this run may be wrong");
    for (unsigned why = 1; sound && why < SHM_REFUSALS; why++) {
        struct strbuf text = STRBUF_INIT;

        if (unsupported_add_text(&text, i->session, (enum shm_refusal)why))
            flame_warn("%s", text.buf);
        strbuf_release(&text);
    }
    if (i->damaged.n)
        flame_warn(
            "the logged calls of %u %s were overwritten and could not be read (of thread %d: "
            "%s): from then on their calls were traced by stops",
            i->damaged.n, i->damaged.n == 1 ? "thread" : "threads", (int)i->damaged.first,
            i->damaged.why);
}

void inproc_end(struct inproc *i)
{
    uint64_t calls[SHM_CALLS / 64] = {0};

    add_calls(calls, handled_still, ARRAY_LEN(handled_still));
    shm_server_end(i->session, calls);
}
