/*
 * The sizes of records and of the ring are multiples of 8 bytes, so no word wraps around the ring's
 * end, and each word is read by itself. A record of a fault has a head, the address, the register
 * mask, and the stack pointer. A record of losses has a head, the event, and the number.
 *
 * A mapping of a ring keeps its event alive, so the descriptors are closed. Minor and major faults
 * have separate rings, because an event without a descriptor cannot write to another's ring.
 */
#define _GNU_SOURCE
#include "preload/firsttouch/faultrings.h"

#include <errno.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#include "common/kernel.h"
#include "common/pages.h"
#include "common/processor/arch.h"
#include "common/processor/page_size.h"

#define RING_LEAST ((size_t)8192)
#define MAJOR_RING ((size_t)16384) /* a disk is slow */
#define RECORD_WORDS 4             /* of a fault; a record without registers has one word less */

/* ---- opening ---- */

/* inherit_thread is a bit of the word after read_format, for which headers before Linux 5.13
 * (Debian 11) have no name. */
static void inherit_threads_only(struct perf_event_attr *attr)
{
    char *at = (char *)&attr->read_format + sizeof attr->read_format;
    uint64_t bits;

    memcpy(&bits, at, sizeof bits);
    bits |= (uint64_t)1 << 35;
    memcpy(at, &bits, sizeof bits);
}

static struct perf_event_attr attributes(bool major, bool all)
{
    struct perf_event_attr attr = {
        .type = PERF_TYPE_SOFTWARE,
        .size = sizeof(struct perf_event_attr),
        .config = major ? PERF_COUNT_SW_PAGE_FAULTS_MAJ : PERF_COUNT_SW_PAGE_FAULTS_MIN,
        .sample_period = 1,
        .sample_type = PERF_SAMPLE_ADDR | PERF_SAMPLE_REGS_USER,
        .sample_regs_user = (uint64_t)1 << ARCH_PERF_SP,
        .inherit = 1,
        .exclude_kernel = !all,
        .exclude_hv = 1,
        .watermark = 1, /* no reader is woken */
        .wakeup_watermark = INT32_MAX,
    };

    inherit_threads_only(&attr);
    return attr;
}

static long open_event(uint32_t cpu, bool major)
{
    struct perf_event_attr attr = attributes(major, true);
    long fd = kernel_call(SYS_perf_event_open, &attr, 0, cpu, -1, PERF_FLAG_FD_CLOEXEC);

    if (fd != -EACCES && fd != -EPERM)
        return fd;
    attr = attributes(major, false);
    return kernel_call(SYS_perf_event_open, &attr, 0, cpu, -1, PERF_FLAG_FD_CLOEXEC);
}

/* 0 or -errno. The user's limit of locked memory may be lower. */
static long map_ring(struct faultrings *r, long fd, struct faultring ring)
{
    long at = -ENOMEM;

    for (; ring.size >= whole_pages(RING_LEAST); ring.size /= 2) {
        at = kernel_call(SYS_mmap, NULL, page_size() + ring.size, PROT_READ | PROT_WRITE,
                         MAP_SHARED | MAP_POPULATE, fd, 0);
        if (at != -EPERM && at != -ENOMEM)
            break;
    }
    if (kernel_failed(at))
        return at;
    ring.page = (struct perf_event_mmap_page *)at;
    r->rings[r->n++] = ring;
    return 0;
}

/* 0 or -errno; -ENODEV: there is no such processor. */
static long open_ring(struct faultrings *r, struct faultring ring)
{
    long fd = open_event(ring.cpu, ring.major), err;

    if (fd < 0)
        return fd;
    err = map_ring(r, fd, ring);
    kernel_call(SYS_close, fd);
    return err;
}

static void close_all(struct faultrings *r)
{
    while (r->n) {
        const struct faultring *ring = &r->rings[--r->n];

        kernel_call(SYS_munmap, ring->page, page_size() + ring->size);
    }
}

/* The largest power of two that is not larger. */
static size_t ring_size(uint32_t cpus)
{
    size_t size = FAULTRINGS_BYTES;

    while (size > whole_pages(RING_LEAST) && size > FAULTRINGS_BYTES / cpus)
        size /= 2;
    return size;
}

long faultrings_open(struct faultrings *r, uint32_t cpus)
{
    long err = 0;

    if (cpus < 1 || cpus > FAULTRINGS_CPUS)
        return -EINVAL;
    if (!r->rings) {
        r->room = 2 * cpus;
        r->rings = pages_alloc(r->room * sizeof *r->rings);
    }
    if (!r->rings || r->room < 2 * cpus)
        return -ENOMEM;
    r->n = 0;
    for (uint32_t i = 0; i < 2 * cpus && (!err || err == -ENODEV); i++)
        err = open_ring(
            r, (struct faultring){.size = i % 2 ? whole_pages(MAJOR_RING) : ring_size(cpus),
                                  .cpu = i / 2,
                                  .major = i % 2});
    if (err && err != -ENODEV)
        close_all(r);
    else if (r->n)
        err = 0;
    return err;
}

/* ---- reading ---- */

static uint64_t there(const struct faultring *ring)
{
    return __atomic_load_n(&ring->page->data_head, __ATOMIC_ACQUIRE) - ring->page->data_tail;
}

bool faultrings_any(const struct faultrings *r)
{
    for (uint32_t i = 0; i < r->n; i++)
        if (there(&r->rings[i]))
            return true;
    return false;
}

bool faultrings_many(const struct faultrings *r)
{
    for (uint32_t i = 0; i < r->n; i++)
        if (there(&r->rings[i]) >= r->rings[i].size / 2)
            return true;
    return false;
}

static uint64_t word_at(const struct faultring *ring, uint64_t at)
{
    return *(const volatile uint64_t *)((const char *)ring->page + page_size() +
                                        (at & (ring->size - 1)));
}

/* The size of the record at `at`, of which `left` bytes are present; 0: the kernel did not write
 * it. */
static uint64_t read_record(const struct faultring *ring, uint64_t at, uint64_t left,
                            struct touched *t)
{
    uint64_t head = word_at(ring, at), size = head >> 48;
    uint32_t type = (uint32_t)head;

    *t = (struct touched){.major = ring->major};
    if (size < 8 || size % 8 || size > left)
        return 0;
    if (type == PERF_RECORD_SAMPLE && size >= 24) {
        t->addr = word_at(ring, at + 8);
        if (size >= 32 && word_at(ring, at + 16) == PERF_SAMPLE_REGS_ABI_64)
            t->sp = word_at(ring, at + 24);
    } else if (type == PERF_RECORD_LOST && size >= 24) {
        t->lost = word_at(ring, at + 16);
    }
    return size;
}

static void read_ring(struct faultring *ring, void (*visit)(const struct touched *t, void *arg),
                      void *arg)
{
    uint64_t at = ring->page->data_tail, head = at + there(ring);

    if (at != head)
        ring->full = ring->size - (head - at) <=
                     RECORD_WORDS * sizeof(uint64_t); /* one byte of the ring is never used */
    while (at != head) {
        struct touched t;
        uint64_t size = read_record(ring, at, head - at, &t);

        if (!size)
            at = head; /* other code has written to the ring: nothing of it can be read */
        else if (t.addr || t.lost)
            visit(&t, arg);
        at += size;
    }
    __atomic_store_n(&ring->page->data_tail, head, __ATOMIC_RELEASE);
}

void faultrings_read(struct faultrings *r, void (*visit)(const struct touched *t, void *arg),
                     void *arg)
{
    for (uint32_t i = 0; i < r->n; i++)
        read_ring(&r->rings[i], visit, arg);
}

/* ---- losses ---- */

static void touch_on(uint32_t cpu, volatile char *page)
{
    unsigned long mask[FAULTRINGS_CPUS / (8 * sizeof(unsigned long))] = {0};

    mask[cpu / (8 * sizeof *mask)] = 1UL << cpu % (8 * sizeof *mask);
    if (kernel_call(SYS_sched_setaffinity, 0, sizeof mask, mask) < 0)
        return;
    kernel_call(SYS_madvise, page, page_size(), MADV_DONTNEED);
    *page = 1;
}

void faultrings_press(struct faultrings *r)
{
    unsigned long before[FAULTRINGS_CPUS / (8 * sizeof(unsigned long))] = {0};
    volatile char *page = NULL;
    long size = 0;

    for (uint32_t i = 0; i < r->n; i++) {
        if (!r->rings[i].full || r->rings[i].major)
            continue;
        if (!page) {
            size = kernel_call(SYS_sched_getaffinity, 0, sizeof before, before);
            page = size > 0 ? pages_alloc(page_size()) : NULL;
        }
        if (!page)
            return;
        touch_on(r->rings[i].cpu, page);
    }
    if (!page)
        return;
    kernel_call(SYS_sched_setaffinity, 0, size, before);
    pages_free((void *)page, page_size());
}

/* ---- the rest ---- */

bool faultrings_hold(const struct faultrings *r, uintptr_t addr)
{
    for (uint32_t i = 0; i < r->n; i++)
        if (addr - (uintptr_t)r->rings[i].page < page_size() + r->rings[i].size)
            return true;
    return false;
}

void faultrings_forget(struct faultrings *r)
{
    r->n = 0;
}
