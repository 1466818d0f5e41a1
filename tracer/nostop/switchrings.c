#define _GNU_SOURCE
#include "tracer/nostop/switchrings.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "common/alloc.h"
#include "common/processor/page_size.h"
#include "tracer/perf/perfopen.h"

/* Bytes of a ring. A switch takes 24 bytes: 200,000 a second fill this in 27 ms. All rings together
 * must stay below what a user may lock for each processor (kernel.perf_event_mlock_kb, 516 by
 * default). */
#define RING_MOST ((size_t)128 << 10)
#define RING_LEAST ((size_t)16 << 10)

/* Ring of one processor. */
struct cpu {
    struct perf_event_mmap_page *page; /* the kernel's page; NULL: there is no such processor */
    int fd;                            /* the event that the ring belongs to */
    struct perf_ring ring;
    bool reported; /* SWITCH_DAMAGED was returned for this ring */
};

struct switch_rings {
    struct cpu *cpus;
    size_t ncpus;
    size_t ring; /* bytes of each; 0: none is mapped yet */
    int *fds;    /* descriptors of all other events */
    size_t nfds, fds_room;
    struct switch_record *reported;
    size_t ntold, told_room;
};

/* Raises the limit of open files: one event for each thread and processor may need more than the
 * 1,024 that a shell allows. */
static void allow_files(void)
{
    struct rlimit most;

    if (getrlimit(RLIMIT_NOFILE, &most) == 0 && most.rlim_cur < most.rlim_max) {
        most.rlim_cur = most.rlim_max;
        setrlimit(RLIMIT_NOFILE, &most);
    }
}

struct switch_rings *switch_rings_new(void)
{
    struct switch_rings *r = xcalloc(1, sizeof *r);

    r->ncpus = (size_t)sysconf(_SC_NPROCESSORS_CONF);
    r->cpus = xcalloc(r->ncpus, sizeof *r->cpus);
    allow_files();
    return r;
}

void switch_rings_free(struct switch_rings *r)
{
    if (!r)
        return;
    for (size_t i = 0; i < r->nfds; i++)
        close(r->fds[i]);
    for (size_t i = 0; i < r->ncpus; i++)
        if (r->cpus[i].page) {
            munmap(r->cpus[i].page, page_size() + r->ring);
            close(r->cpus[i].fd);
            perf_ring_release(&r->cpus[i].ring);
        }
    free(r->cpus);
    free(r->fds);
    free(r->reported);
    free(r);
}

/* ---- opening ---- */

/* Attributes of an event that counts nothing: records of switches come without a count. */
static struct perf_event_attr attributes(void)
{
    return (struct perf_event_attr){
        .type = PERF_TYPE_SOFTWARE,
        .size = sizeof(struct perf_event_attr),
        .config = PERF_COUNT_SW_DUMMY,
        .sample_type = SWITCH_SAMPLE,
        .sample_id_all = 1,
        .inherit = 1,
        .exclude_kernel = 1,
        .exclude_hv = 1,
        .context_switch = 1,
        .task = 1,
        .comm = 1,
        .comm_exec = 1,
        .mmap = 1,
        .mmap2 = 1,
        /* No wakeup is wanted: the rings are read by the clock. */
        .watermark = 1,
        .wakeup_watermark = UINT32_MAX,
        .use_clockid = 1,
        .clockid = CLOCK_MONOTONIC,
    };
}

/* 0 or -errno. */
static int map_ring(struct cpu *c, int fd, size_t ring)
{
    void *at = mmap(NULL, page_size() + ring, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

    if (at == MAP_FAILED)
        return -errno;
    c->page = at;
    c->fd = fd;
    c->ring = (struct perf_ring){.bytes = (const uint8_t *)at + page_size(), .size = ring};
    return 0;
}

/* Maps a ring as large as allowed. The first one sets the size of all others. */
static int map_most(struct switch_rings *r, struct cpu *c, int fd)
{
    size_t ring = r->ring ? r->ring : RING_MOST;
    int err = map_ring(c, fd, ring);

    while (err && !r->ring && (err == -EPERM || err == -ENOMEM) && ring > RING_LEAST)
        err = map_ring(c, fd, ring /= 2);
    if (!err)
        r->ring = ring;
    return err;
}

static int add_on(struct switch_rings *r, size_t cpu, pid_t tid)
{
    struct perf_event_attr attr = attributes();
    struct cpu *c = &r->cpus[cpu];
    int fd = perf_open(&attr, tid, (int)cpu), err = 0;

    if (fd < 0)
        return fd;
    if (!c->page) {
        err = map_most(r, c, fd);
    } else if (ioctl(fd, PERF_EVENT_IOC_SET_OUTPUT, c->fd) < 0) {
        err = -errno;
    } else {
        GROW(r->fds, r->nfds, r->fds_room);
        r->fds[r->nfds++] = fd;
    }
    if (err)
        close(fd);
    return err;
}

int switch_rings_add(struct switch_rings *r, pid_t tid, struct strbuf *why)
{
    size_t there = 0;
    int err = 0;

    for (size_t i = 0; i < r->ncpus && !err; i++) {
        err = add_on(r, i, tid);
        there += !err;
        if (err == -ENODEV) /* there is no such processor at the moment */
            err = 0;
    }
    if (!err && !there)
        err = -ENODEV;
    if (err && err != -ESRCH)
        perf_refusal(err, "one is needed for each thread and processor", why);
    return err;
}

/* ---- reading ---- */

static void read_ring(struct switch_rings *r, struct cpu *c)
{
    struct switch_record record;

    c->ring.head = perf_head(c->page);
    while (switch_ring_next(&c->ring, &record) != SWITCH_NONE) {
        if (record.kind == SWITCH_DAMAGED && c->reported)
            break;
        c->reported = record.kind == SWITCH_DAMAGED;
        GROW(r->reported, r->ntold, r->told_room);
        r->reported[r->ntold++] = record;
    }
    perf_give_room(c->page, c->ring.tail);
}

static int by_time(const void *pa, const void *pb)
{
    const struct switch_record *a = pa, *b = pb;

    return (a->time > b->time) - (a->time < b->time);
}

const struct switch_record *switch_rings_read(struct switch_rings *r, size_t *n)
{
    bool sorted = true;

    r->ntold = 0;
    for (size_t i = 0; i < r->ncpus; i++)
        if (r->cpus[i].page)
            read_ring(r, &r->cpus[i]);
    for (size_t i = 1; i < r->ntold && sorted; i++)
        sorted = r->reported[i - 1].time <= r->reported[i].time;
    if (!sorted)
        qsort(r->reported, r->ntold, sizeof *r->reported, by_time);
    *n = r->ntold;
    return r->reported;
}
