/*
 * test_faultrecord.c: records of page faults and their neighbours, made by hand as the kernel lays
 * them out, also over the end of a ring; damaged records; and the mappings they make.
 */
#include <string.h>

#include "tests/tap.h"
#include "tests/unit/perf_made.h"
#include "tracer/faults/faultmaps.h"
#include "tracer/faults/faultrecord.h"

static void trailer(uint64_t time)
{
    put_when(time);
    put64(77);
}

static void make_page(uint16_t misc, uint64_t abi, uint64_t room, uint64_t filled)
{
    begin(PERF_RECORD_SAMPLE, misc);
    put64(77);
    put64(0x401000);
    put32(11);
    put32(12);
    put64(1000);
    put64(0x7f0000001000);
    put64(abi);
    for (uint64_t i = 0; abi && i < FAULT_REGS_COUNT; i++)
        put64(100 + i);
    put64(room);
    for (uint64_t i = 0; i < room; i++)
        put(&(uint8_t){(uint8_t)i}, 1);
    if (room)
        put64(filled);
}

static void pages(void)
{
    struct fault_record r;

    for (int i = 0; i < 40; i++) { /* 280 bytes each: records and headers go over the end */
        make_page(i % 2 ? PERF_RECORD_MISC_KERNEL : PERF_RECORD_MISC_USER, 2, 64, 48);
        finish();
        is_int(fault_ring_next(&ring, &r), FAULT_PAGE, "page fault record %d is read", i);
        ok(r.pid == 11 && r.tid == 12 && r.time == 1000 && r.event == 77 && r.ip == 0x401000 &&
               r.addr == 0x7f0000001000 && r.in_kernel == i % 2,
           "a page fault record has its thread, time and addresses");
        ok(r.has_regs && r.regs[0] == 100 && r.regs[FAULT_REG_PC] == 108 &&
               r.regs[FAULT_REGS_COUNT - 1] == 116,
           "a page fault record has its registers");
        ok(r.stack_size == 48 && r.stack[0] == 0 && r.stack[47] == 47,
           "a page fault record has the filled part of its stack");
    }
    make_page(PERF_RECORD_MISC_USER, 0, 0, 0);
    finish();
    is_int(fault_ring_next(&ring, &r), FAULT_PAGE, "a page fault of a kernel thread is read");
    ok(!r.has_regs && !r.stack_size,
       "a page fault of a kernel thread has neither registers nor stack");
    make_page(PERF_RECORD_MISC_USER, 1, 8, 8);
    finish();
    is_int(fault_ring_next(&ring, &r), FAULT_PAGE, "a page fault of a 32-bit program is read");
    ok(!r.has_regs && r.stack_size == 8,
       "a page fault of a 32-bit program has a stack and no registers");
    is_int(fault_ring_next(&ring, &r), FAULT_NONE, "the ring is empty after the last page fault");
}

static void others(void)
{
    struct fault_record r;

    begin(PERF_RECORD_LOST, 0);
    put64(77);
    put64(5);
    trailer(1);
    finish();
    begin(PERF_RECORD_THROTTLE, 0); /* a record of no use */
    put64(0);
    finish();
    begin(PERF_RECORD_FORK, 0);
    put32(21), put32(11), put32(21), put32(12), put64(2);
    trailer(2);
    finish();
    begin(PERF_RECORD_EXIT, 0);
    put32(21), put32(11), put32(21), put32(12), put64(3);
    trailer(3);
    finish();
    begin(PERF_RECORD_COMM, PERF_RECORD_MISC_COMM_EXEC);
    put32(21), put32(21), put("prog\0\0\0", 8);
    trailer(4);
    finish();
    begin(PERF_RECORD_COMM, 0);
    put32(21), put32(22), put("worker\0", 8);
    trailer(5);
    finish();
    begin(PERF_RECORD_MMAP2, 0);
    put32(21), put32(22), put64(0x1000), put64(0x3000), put64(0x2000), put32(8), put32(1);
    put64(99), put64(1), put32(5), put32(2), put("/x\0\0\0\0\0", 8);
    trailer(6);
    finish();

    is_int(fault_ring_next(&ring, &r), FAULT_LOST, "a record of lost events is read");
    ok(r.lost == 5 && r.pid == 11 && r.time == 1,
       "a record of lost events has their number, process and time");
    is_int(fault_ring_next(&ring, &r), FAULT_FORK,
           "an unneeded record is skipped and the fork after it is read");
    ok(r.pid == 21 && r.tid == 21 && r.parent_pid == 11 && r.parent_tid == 12,
       "a fork record has child and parent");
    is_int(fault_ring_next(&ring, &r), FAULT_EXIT, "an exit record is read");
    is_int((intmax_t)r.tid, 21, "an exit record has its thread");
    is_int(fault_ring_next(&ring, &r), FAULT_EXEC, "an exec record is read");
    is_str(r.name, "prog", "an exec record has the program's name");
    is_int(fault_ring_next(&ring, &r), FAULT_NAME, "a record of a thread's new name is read");
    ok(r.pid == 21 && r.tid == 22 && strcmp(r.name, "worker") == 0 && r.time == 5,
       "a name record has thread, name and time");
    is_int(fault_ring_next(&ring, &r), FAULT_MAPPING, "a mapping record is read");
    ok(r.start == 0x1000 && r.size == 0x3000 && r.offset == 0x2000 && r.major == 8 &&
           r.minor == 1 && r.inode == 99 && r.prot == 5 && r.flags == 2,
       "a mapping record has range, offset, device, inode and protection");
    is_str(r.name, "/x", "a mapping record has the file's name");
}

static void start_over(void)
{
    perf_ring_release(&ring);
    ring = (struct perf_ring){.bytes = bytes, .size = RING};
}

static void is_damaged(const char *what)
{
    struct fault_record r;

    is_int(fault_ring_next(&ring, &r), FAULT_DAMAGED, "fault_ring_next refuses %s", what);
    is_int(fault_ring_next(&ring, &r), FAULT_DAMAGED,
           "fault_ring_next keeps refusing a damaged ring");
    start_over();
}

static void damaged(void)
{
    start_over();
    ring.head = 4;
    is_damaged("half a header");
    ring.head = RING + 8;
    is_damaged("more bytes than the ring holds");
    make_page(0, 2, 64, 48);
    finish();
    memset(bytes + 6, 0, 2);
    is_damaged("a record of size 0");
    make_page(0, 2, 64, 48);
    finish();
    ring.head -= 8;
    is_damaged("a record beyond the end");
    make_page(0, 2, 64, 65);
    finish();
    is_damaged("a stack larger than its room");
    make_page(0, 2, 64, 48);
    len -= 80;
    finish();
    is_damaged("a stack larger than its record");
    make_page(0, 2, 8, 8);
    put64(0);
    finish();
    is_damaged("a record with excess bytes");
    begin(PERF_RECORD_COMM, 0);
    put32(1), put32(1), put("notended", 8);
    trailer(1);
    finish();
    is_damaged("a name without a terminating NUL");
    begin(PERF_RECORD_FORK, 0);
    put64(1);
    finish();
    is_damaged("a record without its trailer");
    begin(PERF_RECORD_MMAP2, 0);
    put32(1), put32(1), put64(UINT64_MAX - 4095), put64(8192), put64(0), put64(0), put64(0);
    put64(0), put64(0), put("/x\0\0\0\0\0", 8);
    trailer(1);
    finish();
    is_damaged("a mapping that wraps around the end of memory");
}

static void add(struct faultmaps *f, uintptr_t start, uintptr_t end, const char *name)
{
    struct procmap m = {.start = start, .end = end, .name = name, .name_len = strlen(name)};

    faultmaps_add(f, &m);
}

static const char *show(const struct faultmaps *f)
{
    static char text[512];
    int n = 0;

    text[0] = '\0';
    for (size_t i = 0; i < f->n; i++)
        n += snprintf(text + n, sizeof text - (size_t)n, "%s%zx-%zx+%zx %s", i ? ", " : "",
                      (size_t)f->maps[i].start, (size_t)f->maps[i].end, (size_t)f->maps[i].offset,
                      f->maps[i].name);
    return text;
}

static void maps(void)
{
    struct faultmaps f = {.n = 0}, copy = {.n = 0};

    add(&f, 0x30, 0x40, "c");
    add(&f, 0x10, 0x20, "a");
    add(&f, 0x20, 0x30, "b");
    is_str(show(&f), "10-20+0 a, 20-30+0 b, 30-40+0 c", "faultmaps_add sorts mappings by address");
    faultmaps_copy(&copy, &f);
    add(&f, 0x18, 0x38, "d");
    is_str(show(&f), "10-18+0 a, 18-38+0 d, 38-40+8 c",
           "a mapping over three others cuts the outer two and replaces the inner one");
    add(&f, 0x20, 0x28, "e");
    is_str(show(&f), "10-18+0 a, 18-20+0 d, 20-28+0 e, 28-38+10 d, 38-40+8 c",
           "a mapping inside another splits it");
    add(&f, 0x0, 0x100, "f");
    is_str(show(&f), "0-100+0 f", "a mapping over all others replaces them");
    add(&f, 0x100, 0x100, "g");
    is_str(show(&f), "0-100+0 f", "an empty mapping changes nothing");
    is_str(show(&copy), "10-20+0 a, 20-30+0 b, 30-40+0 c",
           "a copy of the mappings does not change with the original");
    faultmaps_release(&f);
    faultmaps_release(&copy);
}

int main(void)
{
    pages();
    others();
    damaged();
    maps();
    return done_testing();
}
