#define _GNU_SOURCE
#include "tracer/faults/faultsource.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "common/alloc.h"
#include "common/processor/page_size.h"
#include "tracer/perf/perfopen.h"

#define RING_LEAST ((size_t)128 << 10)

/* Events and ring of one processor. */
struct cpu {
    int fds[2]; /* of minor and major faults; both write into the ring of the first */
    uint64_t ids[2];
    struct perf_event_mmap_page *page; /* followed by the bytes of the ring */
    struct perf_ring ring;
    uint64_t round;           /* where the present round ends */
    struct fault_record next; /* the record read ahead; FAULT_NONE: none */
    uint64_t done;            /* the kernel may overwrite the ring up to here */
    bool reported;            /* FAULT_DAMAGED was returned for this ring */
};

struct fault_source {
    struct cpu *cpus;
    struct pollfd *polled;
    size_t n;
    size_t ring;
    bool all;
    struct cpu *lent; /* the ring into which the caller's record points; NULL: none */
};

/* Size of the kernel's page, which lies before the bytes of a ring. */
/* ---- opening ---- */

static struct perf_event_attr attributes(const struct fault_wishes *w, bool major, bool all,
                                         size_t ring)
{
    return (struct perf_event_attr){
        .type = PERF_TYPE_SOFTWARE,
        .size = sizeof(struct perf_event_attr),
        .config = major ? PERF_COUNT_SW_PAGE_FAULTS_MAJ : PERF_COUNT_SW_PAGE_FAULTS_MIN,
        .sample_period = 1,
        .sample_type = FAULT_SAMPLE,
        .sample_regs_user = FAULT_REGS,
        .sample_stack_user = w->stack,
        .inherit = 1,
        .disabled = w->after_exec,
        .enable_on_exec = w->after_exec,
        .exclude_kernel = !all,
        .exclude_hv = 1,
        .exclude_callchain_kernel = 1,
        .sample_id_all = 1,
        /* One of the two events also reports forks, names and mappings. */
        .task = !major,
        .comm = !major,
        .comm_exec = !major,
        .mmap = !major,
        .mmap2 = !major,
        .watermark = 1,
        .wakeup_watermark = (uint32_t)(ring / 4),
        .use_clockid = 1,
        .clockid = CLOCK_MONOTONIC,
    };
}

static void close_cpu(struct cpu *c, size_t ring)
{
    for (size_t i = 0; i < ARRAY_LEN(c->fds); i++)
        if (c->fds[i] >= 0)
            close(c->fds[i]);
    if (c->page)
        munmap(c->page, page_size() + ring);
    perf_ring_release(&c->ring);
}

static int map_ring(struct cpu *c, size_t ring)
{
    void *at = mmap(NULL, page_size() + ring, PROT_READ | PROT_WRITE, MAP_SHARED, c->fds[0], 0);

    if (at == MAP_FAILED)
        return -errno;
    c->page = at;
    c->ring = (struct perf_ring){.bytes = (const uint8_t *)at + page_size(), .size = ring};
    return 0;
}

/* 0 or -errno; -ENODEV: there is no such processor. */
static int open_cpu(struct cpu *c, int number, pid_t pid, const struct fault_wishes *w, bool all,
                    size_t ring)
{
    int err = 0;

    *c = (struct cpu){.fds = {-1, -1}};
    for (int i = 0; i < 2 && !err; i++) {
        struct perf_event_attr attr = attributes(w, i == 1, all, ring);

        c->fds[i] = perf_open(&attr, pid, number);
        if (c->fds[i] < 0)
            err = c->fds[i];
        else if (ioctl(c->fds[i], PERF_EVENT_IOC_ID, &c->ids[i]) < 0)
            err = -errno;
    }
    if (!err)
        err = map_ring(c, ring);
    if (!err && ioctl(c->fds[1], PERF_EVENT_IOC_SET_OUTPUT, c->fds[0]) < 0)
        err = -errno;
    if (err)
        close_cpu(c, ring);
    return err;
}

static void close_all(struct fault_source *s)
{
    while (s->n)
        close_cpu(&s->cpus[--s->n], s->ring);
}

/* 0 or -errno, with nothing open. */
static int open_all(struct fault_source *s, pid_t pid, const struct fault_wishes *w)
{
    long most = sysconf(_SC_NPROCESSORS_CONF);
    int err = -ENODEV;

    for (int i = 0; i < most; i++) {
        err = open_cpu(&s->cpus[s->n], i, pid, w, s->all, s->ring);
        if (!err)
            s->n++;
        else if (err != -ENODEV)
            break;
    }
    if (s->n && (!err || err == -ENODEV))
        return 0;
    close_all(s);
    return err;
}

/* Opens with as many of the kernel's faults and as large a ring as is allowed. Memory that cannot
 * be swapped out is limited (perf_event_mlock_kb, RLIMIT_MEMLOCK); mmap returns EPERM beyond. */
static int open_most(struct fault_source *s, pid_t pid, const struct fault_wishes *w)
{
    int err;

    s->all = !w->user_only;
    s->ring = RING_LEAST;
    while (s->ring * 2 <= w->ring)
        s->ring *= 2;
    while ((err = open_all(s, pid, w)) != 0) {
        if ((err == -EACCES || err == -EPERM) && s->all)
            s->all = false;
        else if ((err == -EPERM || err == -ENOMEM) && s->ring > RING_LEAST)
            s->ring /= 2;
        else
            return err;
    }
    return 0;
}

/* ---- the interface ---- */

struct fault_source *fault_source_open(pid_t pid, const struct fault_wishes *w, struct strbuf *why)
{
    struct fault_source *s = xcalloc(1, sizeof *s);
    int err;

    s->cpus = xcalloc((size_t)sysconf(_SC_NPROCESSORS_CONF), sizeof *s->cpus);
    err = open_most(s, pid, w);
    if (err) {
        perf_refusal(err, "two are needed for each processor", why);
        fault_source_close(s);
        return NULL;
    }
    s->polled = xcalloc(s->n, sizeof *s->polled);
    for (size_t i = 0; i < s->n; i++)
        s->polled[i] = (struct pollfd){.fd = s->cpus[i].fds[0], .events = POLLIN};
    return s;
}

void fault_source_close(struct fault_source *s)
{
    if (!s)
        return;
    close_all(s);
    free(s->cpus);
    free(s->polled);
    free(s);
}

void fault_source_wait(struct fault_source *s, int ms)
{
    poll(s->polled, s->n, ms);
}

/* ---- reading ---- */

static void give_room(struct cpu *c)
{
    c->done = c->ring.tail;
    perf_give_room(c->page, c->done);
}

/*
 * A round ends where the rings end now. If an event happened before a record of the round, the
 * kernel wrote its record before that one. So it is in its ring once all rings have been read once
 * more.
 */
static void begin_round(struct fault_source *s)
{
    for (size_t i = 0; i < s->n; i++)
        s->cpus[i].round = perf_head(s->cpus[i].page);
    for (size_t i = 0; i < s->n; i++)
        s->cpus[i].ring.head = perf_head(s->cpus[i].page);
}

static bool in_round(const struct cpu *c)
{
    /* A record that was read ahead lies before `tail`, and `done` is where it begins. */
    uint64_t at = c->next.kind == FAULT_NONE ? c->ring.tail : c->done;

    return (int64_t)(c->round - at) > 0 && !c->reported;
}

static void peek(struct cpu *c)
{
    if (c->next.kind == FAULT_NONE && !c->reported)
        fault_ring_next(&c->ring, &c->next);
}

/* The ring with the earliest record; NULL: the round is over. */
static struct cpu *earliest(struct fault_source *s)
{
    struct cpu *first = NULL;
    bool more = false;

    for (size_t i = 0; i < s->n; i++) {
        struct cpu *c = &s->cpus[i];

        peek(c);
        more = more || in_round(c);
        if (c->next.kind != FAULT_NONE && (!first || c->next.time < first->next.time))
            first = c;
    }
    return more ? first : NULL;
}

enum fault_kind fault_source_next(struct fault_source *s, struct fault_record *out)
{
    struct cpu *c;

    if (s->lent)
        give_room(s->lent);
    s->lent = NULL;
    c = earliest(s);
    if (!c) {
        for (size_t i = 0; i < s->n; i++)
            if (s->cpus[i].next.kind == FAULT_NONE)
                give_room(&s->cpus[i]); /* of records that were skipped */
        begin_round(s);
        *out = (struct fault_record){.kind = FAULT_NONE};
        return FAULT_NONE;
    }
    *out = c->next;
    c->next.kind = FAULT_NONE;
    c->reported = out->kind == FAULT_DAMAGED;
    s->lent = c;
    return out->kind;
}

/* ---- questions ---- */

bool fault_source_is_major(const struct fault_source *s, const struct fault_record *r)
{
    for (size_t i = 0; i < s->n; i++)
        if (s->cpus[i].ids[1] == r->event)
            return true;
    return false;
}

bool fault_source_all(const struct fault_source *s)
{
    return s->all;
}

void fault_source_counted(const struct fault_source *s, uint64_t *minor, uint64_t *major)
{
    uint64_t *sums[2] = {minor, major}, value;

    *minor = *major = 0;
    for (size_t i = 0; i < s->n; i++)
        for (int k = 0; k < 2; k++)
            if (read(s->cpus[i].fds[k], &value, sizeof value) == sizeof value)
                *sums[k] += value;
}

size_t fault_source_ring(const struct fault_source *s)
{
    return s->ring;
}
