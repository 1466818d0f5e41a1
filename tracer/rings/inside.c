#define _GNU_SOURCE
#include "tracer/rings/inside.h"

#include <sched.h>
#include <stdlib.h>

#include "common/alloc.h"
#include "common/error.h"
#include "common/strbuf.h"
#include "common/sysnr.h"
#include "inside/mark.h"
#include "inside/sequence.h"
#include "inside/read/refusals.h"
#include "patch/find/libcsites.h"
#include "tracer/rings/ringevents.h"

/* Threads that can note at a time; others' calls stop. */
#define RINGS 1024

static const int noted[] = {
    SYS_futex,   SYS_nanosleep,  SYS_clock_nanosleep, SYS_read,         SYS_readv,   SYS_write,
    SYS_writev,  SYS_recvfrom,   SYS_recvmsg,         SYS_sendto,       SYS_sendmsg, SYS_accept,
    SYS_accept4, SYS_epoll_wait, SYS_epoll_pwait,     SYS_epoll_pwait2, SYS_poll,    SYS_ppoll,
    SYS_select,  SYS_pselect6,   SYS_connect,         SYS_pread64,      SYS_preadv,  SYS_pwrite64,
    SYS_pwritev, SYS_sendfile};
/* What the library does something else about: sandboxes. */
static const int handled[] = {SYS_prctl, SYS_seccomp};

struct inside {
    struct inside_client client;
    struct session *session;
    struct session_client told;
    struct ringevents *events;
    struct strbuf environment;
    uintptr_t marked; /* 0: no call is */
};

static void add_calls(uint64_t bits[SESSION_CALLS / 64], const int *calls, size_t n)
{
    for (size_t i = 0; i < n; i++)
        bits[calls[i] / 64] |= 1ull << calls[i] % 64;
}

/* ---- what the session and ringevents tell ---- */

static uint32_t on_stack(void *arg, pid_t tid, const uint64_t *pcs, size_t n)
{
    struct inside *i = arg;

    return i->client.stack(i->client.arg, tid, pcs, n);
}

static void on_record(void *arg, enum ring_result what, const struct ring_reader *r)
{
    struct inside *i = arg;

    ringevents_record(i->events, what, r);
}

static void on_damage(void *arg, const struct ring_reader *r)
{
    (void)arg;
    flame_warn("what thread %d notes of its calls cannot be: %s; they stop from now on",
               (int)r->tid, r->damage);
}

static void on_event(void *arg, const struct off_event *e, uint32_t stack)
{
    struct inside *i = arg;

    if (!i->client.event(i->client.arg, e, stack))
        session_close_ring(i->session, e->tid);
}

/* ---- the beginning ---- */

/* The one place of the C library that makes the calls of cancellation points. */
static uintptr_t place_of_marks(const struct site_list *sites)
{
    uintptr_t place = 0;

    for (size_t i = 0; i < sites->n; i++) {
        const struct patch_site *s = &sites->sites[i];

        if (s->kind != SITE_NONE || s->reason != SITE_CANCELLATION)
            continue;
        if (place)
            return 0;
        place = (s->call + s->call_size) % MARK_PAGE;
    }
    return place;
}

struct inside *inside_new(const struct inside_client *client, const char **why)
{
    struct ringevents_client events = {.event = on_event};
    struct site_list sites = {.sites = NULL};
    struct session_options o = {.rings = RINGS, .modules = &sites, .nmodules = 1};
    struct inside *i;
    int err, filters;

    if (libcsites_find(&sites) < 0 || !sites.n) {
        *why = "the calls of the C library cannot be found";
        sites_release(&sites);
        return NULL;
    }
    i = xcalloc(1, sizeof *i);
    i->client = *client;
    add_calls(o.calls, noted, ARRAY_LEN(noted));
    add_calls(o.calls, handled, ARRAY_LEN(handled));
    o.sequences = sequence_tells();
    filters = mark_filters();
    if (filters >= 0) {
        o.filters = (uint32_t)filters + 2; /* ours is one more, in the command */
        i->marked = place_of_marks(&sites);
        o.marks = i->marked != 0;
    }
    err = session_new(&i->session, &o);
    sites_release(&sites);
    if (err) {
        *why = "the memory of the run cannot be made";
        free(i);
        return NULL;
    }
    i->told = (struct session_client){
        .ring = {.arg = i, .stack = on_stack}, .event = on_record, .damaged = on_damage};
    events.arg = i;
    i->events = ringevents_new(&events);
    i->environment = (struct strbuf)STRBUF_INIT;
    strbuf_addf(&i->environment, SESSION_ENV "=%s", session_name(i->session));
    return i;
}

uintptr_t inside_marked(const struct inside *i)
{
    return i->marked;
}

const char *inside_environment(const struct inside *i)
{
    return i->environment.buf;
}

/* ---- the run ---- */

void inside_tell(struct inside *i, uint64_t until)
{
    session_tell(i->session, until, &i->told);
}

bool inside_stopped(struct inside *i, const struct off_event *e)
{
    if (e->kind == OFF_SIGNAL)
        return ringevents_signal(i->events, e);
    return ringevents_stopped(i->events, e);
}

void inside_born(struct inside *i, pid_t parent, pid_t child, uint64_t flags)
{
    if (!child) {
        session_lend(i->session, parent, false);
        ringevents_back(i->events, parent);
    } else if (flags & CLONE_VM && !(flags & CLONE_SETTLS)) {
        /* They share the word that says whose ring is whose. */
        if (flags & CLONE_VFORK) {
            session_lend(i->session, parent, true);
            ringevents_lend(i->events, parent, child);
        } else {
            session_close_ring(i->session, parent);
        }
    }
}

void inside_handled(struct inside *i, pid_t tid, uint64_t now)
{
    session_handled(i->session, tid, now);
}

void inside_gone(struct inside *i, pid_t tid)
{
    session_thread_gone(i->session, tid);
    ringevents_gone(i->events, tid);
}

void inside_say_refusals(const struct inside *i)
{
    for (unsigned why = 1; why < SESSION_REFUSALS; why++) {
        struct strbuf text = STRBUF_INIT;

        if (refusal_add_text(&text, i->session, (enum session_refusal)why))
            flame_warn("%s", text.buf);
        strbuf_release(&text);
    }
}

void inside_end(struct inside *i)
{
    uint64_t calls[SESSION_CALLS / 64] = {0};

    add_calls(calls, handled, ARRAY_LEN(handled));
    session_end(i->session, calls);
}
