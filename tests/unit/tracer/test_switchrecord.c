/*
 * test_switchrecord.c: records of context switches and of threads' lives, made by hand as the
 * kernel lays them out; damaged records; and the test's own process, as the kernel reports it.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "tests/tap.h"
#include "tests/unit/perf_made.h"
#include "tracer/nostop/switchrings.h"

/* Into the ring, with its time if it has one. */
static void finish_at(uint64_t time)
{
    if (time)
        put_when(time);
    finish();
}

static void switches(void)
{
    struct switch_record r;

    for (unsigned i = 1; i <= 500; i++) { /* 24 bytes each: over the end of the ring, too */
        bool out = i % 2, wants = i % 4 == 1;

        begin(PERF_RECORD_SWITCH, (uint16_t)((out ? PERF_RECORD_MISC_SWITCH_OUT : 0) |
                                             (wants ? PERF_RECORD_MISC_SWITCH_OUT_PREEMPT : 0)));
        finish_at(i);
        row(switch_ring_next(&ring, &r) == (out ? SWITCH_OUT : SWITCH_IN),
            "switch record %u has its kind", i);
        row(r.pid == 11 && r.tid == 12 && r.time == i && r.wants == (out && wants),
            "switch record %u has its thread, time and reason", i);
    }
    is_int(switch_ring_next(&ring, &r), SWITCH_NONE, "500 switch records are read, and no more");
}

static void lives(void)
{
    struct switch_record r;

    begin(PERF_RECORD_FORK, 0);
    put32(21), put32(11), put32(22), put32(12), put64(2);
    finish_at(2);
    begin(PERF_RECORD_THROTTLE, 0); /* a record of no use */
    put64(0);
    finish_at(2);
    begin(PERF_RECORD_EXIT, 0);
    put32(21), put32(11), put32(22), put32(12), put64(3);
    finish_at(3);
    begin(PERF_RECORD_COMM, PERF_RECORD_MISC_COMM_EXEC);
    put32(21), put32(21), put("prog\0\0\0", 8);
    finish_at(4);
    begin(PERF_RECORD_COMM, 0); /* a name of its own */
    put32(21), put32(21), put("name\0\0\0", 8);
    finish_at(4);
    begin(PERF_RECORD_MMAP2, 0);
    put32(31), put32(32), put64(0x1000), put64(0x3000), put64(0), put64(0), put64(0), put64(0);
    put64(0), put("/x\0\0\0\0\0", 8);
    finish_at(5);
    begin(PERF_RECORD_LOST, 0);
    put64(77), put64(9);
    finish_at(6);

    is_int(switch_ring_next(&ring, &r), SWITCH_FORK, "a fork record is read");
    ok(r.pid == 21 && r.tid == 22 && r.parent_pid == 11 && r.parent_tid == 12 && r.time == 2,
       "a fork record has child, parent and time");
    is_int(switch_ring_next(&ring, &r), SWITCH_EXIT,
           "an unneeded record is skipped and the exit after it is read");
    ok(r.pid == 21 && r.tid == 22, "an exit record has its thread");
    is_int(switch_ring_next(&ring, &r), SWITCH_EXEC, "an exec record is read");
    ok(r.pid == 21 && r.tid == 21 && r.time == 4, "an exec record has its thread and time");
    is_int(switch_ring_next(&ring, &r), SWITCH_MAPPED,
           "a name record is skipped and the mapping after it is read");
    ok(r.pid == 31 && r.tid == 32, "a mapping record has its thread");
    is_int(switch_ring_next(&ring, &r), SWITCH_LOST, "a record of lost events is read");
    ok(r.lost == 9, "a record of lost events has their number");
    is_int(switch_ring_next(&ring, &r), SWITCH_NONE, "the ring is empty after the last record");
}

static void is_damaged(const char *what)
{
    struct switch_record r;

    is_int(switch_ring_next(&ring, &r), SWITCH_DAMAGED, "switch_ring_next refuses %s", what);
    is_int(switch_ring_next(&ring, &r), SWITCH_DAMAGED,
           "switch_ring_next keeps refusing a damaged ring");
    perf_ring_release(&ring);
    ring = (struct perf_ring){.bytes = bytes, .size = RING};
}

static void damaged(void)
{
    perf_ring_release(&ring);
    ring = (struct perf_ring){.bytes = bytes, .size = RING};
    ring.head = 4;
    is_damaged("half a header");
    ring.head = RING + 8;
    is_damaged("more bytes than the ring holds");
    begin(PERF_RECORD_SWITCH, 0);
    finish_at(1);
    ring.head -= 8;
    is_damaged("a record beyond the end");
    begin(PERF_RECORD_SWITCH, 0);
    put64(1);
    finish_at(0);
    is_damaged("a record without its trailer");
    begin(PERF_RECORD_SWITCH, 0);
    put64(1);
    finish_at(1);
    is_damaged("a record with excess bytes");
    begin(PERF_RECORD_FORK, 0);
    put64(1);
    finish_at(1);
    is_damaged("a fork record without its threads");
    begin(PERF_RECORD_MMAP2, 0);
    put32(1);
    finish_at(1);
    is_damaged("a mapping record without its thread");
}

/* ---- the kernel itself ---- */

static uint64_t now(void)
{
    struct timespec ts;

    clock_gettime(CLOCK_MONOTONIC, &ts);
    return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

static void myself(void)
{
    struct switch_rings *rings = switch_rings_new();
    struct timespec moment = {0, 3000000};
    struct strbuf why = STRBUF_INIT;
    const struct switch_record *r;
    uint64_t before, after, from = 0, to = 0;
    size_t n;
    int err = switch_rings_add(rings, getpid(), &why);

    if (err) {
        ok(why.len > 0, "switch_rings_add reports why it fails");
        skip_key("perf-sched", "%s", why.buf);
        strbuf_release(&why);
        switch_rings_free(rings);
        return;
    }
    before = now();
    nanosleep(&moment, NULL);
    after = now();
    r = switch_rings_read(rings, &n);
    for (size_t i = 0; i < n; i++) {
        row(r[i].pid == getpid() && r[i].tid == getpid() && (!i || r[i].time >= r[i - 1].time),
            "kernel record %zu is of this thread and in order", i);
        if (r[i].kind == SWITCH_OUT && !r[i].wants && !from)
            from = r[i].time;
        if (r[i].kind == SWITCH_IN && from && r[i].time - from >= 3000000 && !to)
            to = r[i].time;
    }
    ok(from >= before && to <= after && to - from >= 3000000,
       "the kernel reports this thread's sleep");
    is_int(switch_rings_add(rings, 0x7ffffff0, &why), -ESRCH,
           "switch_rings_add fails with ESRCH for a missing thread");
    is_int((intmax_t)why.len, 0, "switch_rings_add reports no reason for a missing thread");
    strbuf_release(&why);
    switch_rings_free(rings);
}

int main(void)
{
    switches();
    lives();
    damaged();
    myself();
    return done_testing();
}
