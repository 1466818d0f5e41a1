/* common/trace/trace_writer.h: growing into the hole ahead, beyond it, and where neither is
 * possible. */
#define _GNU_SOURCE
#include "common/trace/trace_writer.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/kernel.h"
#include "common/trace/trace_reader.h"
#include "tests/tap.h"
#include "tests/unit/shadowed.h"

static char path[4096];
static struct trace_writer w;

static int create(void)
{
    struct trace_header init = {.recorder = TRACE_RECORDER_MEM, .peak_epoch = 1};

    snprintf(path, sizeof path, "%s/flame-writer-%d.flame",
             getenv("TMPDIR") ? getenv("TMPDIR") : "/tmp", (int)getpid());
    return trace_writer_create(&w, path, &init);
}

static void drop(void)
{
    trace_writer_abandon(&w);
    unlink(path);
}

/* Takes segments, writes to all of each, and returns their number. */
static uint32_t take(uint32_t most)
{
    struct trace_segment *s;
    uint32_t n = 0;

    for (; n < most && (s = trace_writer_segment(&w, TRACE_SEG_NODES, 16)); n++)
        memset(s + 1, 0, s->units * TRACE_UNIT - sizeof *s);
    return n;
}

/* The first segments are short. */
static void take_short(void)
{
    take(TRACE_SHORT_SEGMENTS);
}

static uint64_t blocks(void)
{
    struct stat st;

    return stat(path, &st) ? 0 : (uint64_t)st.st_blocks * 512;
}

static long opens, populates;

static bool count(long number, const unsigned long args[6])
{
    opens += number == SYS_openat;
    populates += number == SYS_madvise && args[2] == 23;
    return true;
}

static void test_growing(void)
{
    struct stat st;

    is_int(create(), 0, "trace_writer_create succeeds");
    is_int(create(), -EEXIST, "trace_writer_create refuses an existing file");
    drop();
    is_int(create(), 0, "trace_writer_create succeeds after the file is removed");
    ok(blocks() <= 16384, "a new trace takes little disk space");
    ok(take(1) == 1 && blocks() <= 16384, "a short segment takes no further disk space");
    kernel_gatekeeper = count;
    opens = populates = 0;
    is_int(take(60), 60, "60 segments are taken");
    kernel_gatekeeper = NULL;
    if (populates > 1)
        is_int(opens, 0, "60 segments are taken without opening the path");
    else
        ok(opens > 0, "60 segments are taken by opening the path on an old kernel");
    ok(w.header->units * TRACE_UNIT >= w.used && w.used > 56 * TRACE_SEGMENT_SIZE,
       "all taken segments are in use");
    ok(blocks() >= w.used, "all taken segments are on disk");
    opens = 0;
    kernel_gatekeeper = count;
    is_int(take(100), 100, "100 more segments are taken");
    kernel_gatekeeper = NULL;
    ok(opens > 0 && opens < 10, "100 more segments open the path a few times");
    ok(stat(path, &st) == 0 && st.st_size >= 164 * 65536, "the file has all segments");
    drop();
}

static void test_reading(void)
{
    struct trace *t = NULL;
    struct stat st;

    create();
    stat(path, &st);
    ok(st.st_size > 16384, "the file has room behind the used part");
    is_int(trace_load(path, &t), 0, "a trace with unused room loads");
    is_int(t ? (intmax_t)t->header.units : 0, 16, "unused room is not part of the loaded trace");
    trace_free(t);
    take(200);
    is_int(trace_load(path, &t), 0, "a trace with a gap before its second extent loads");
    is_int(t ? (intmax_t)t->node_limit : 0, 200 << TRACE_NODE_SHIFT,
           "a trace with a gap has all segments behind it");
    trace_free(t);
    drop();
}

static bool refused;

static bool no_files(long number, const unsigned long args[6] FLAME_UNUSED)
{
    if (number == SYS_openat || number == SYS_madvise || number == SYS_fallocate)
        refused = true;
    return !refused || (number != SYS_openat && number != SYS_madvise && number != SYS_fallocate);
}

static void test_reserve(void)
{
    create();
    take_short();
    trace_writer_reserve(&w, 20, 200);
    ok(w.header->units - w.used / TRACE_UNIT >= 20 * 64,
       "trace_writer_reserve makes 20 segments ready");
    ok(w.header->units < 100 * 64,
       "trace_writer_reserve makes few more segments ready than requested");
    opens = 0;
    kernel_gatekeeper = count;
    ok(take(200) == 200, "200 segments are taken after a reserve");
    kernel_gatekeeper = NULL;
    if (populates)
        is_int(opens, 0, "200 reserved segments are taken without opening the path");
    drop();

    create();
    take_short();
    trace_writer_reserve(&w, 20, 0);
    kernel_gatekeeper = no_files;
    ok(take(20) == 20, "20 reserved segments are taken without file calls");
    ok(!refused, "20 reserved segments make no file call at all");
    ok(take(1000) < 20 && refused, "segments beyond the reserve need a file call");
    kernel_gatekeeper = NULL;
    ok(w.full && w.error == -EPERM, "a refused file call ends the trace for good");
    drop();
}

/* The file is released while a thread that has found the writer able to grow is on its way to the
 * next segment. */
static void test_cut_short(void)
{
    create();
    take(30);
    ok(!trace_writer_detach(&w, &w) && !w.cut,
       "trace_writer_detach ignores memory outside of the trace");
    is_int(truncate(path, 0), 0, "truncate() of the trace succeeds");
    ok(trace_writer_detach(&w, w.header) && w.cut && w.full,
       "trace_writer_detach detaches a truncated trace");
    is_int(w.header->units, 0, "a detached trace is replaced by an empty header");
    w.full = false;
    alarm(20);
    ok(!trace_writer_segment(&w, TRACE_SEG_NODES, 16),
       "a detached trace gives no segment and does not loop");
    alarm(0);
    drop();
}

/* A program with a stray pointer may overwrite the header. */
static int written_over(uint32_t units)
{
    int status = 10;

    create();
    take(100); /* beyond the first extent */
    w.header->units = units;
    alarm(20);
    if (take(100) == 100)
        status = w.header->units * (uint64_t)TRACE_UNIT >= w.used ? 0 : 20;
    drop();
    return status;
}

static int units_zeroed(void)
{
    return written_over(0);
}

static int units_raised(void)
{
    return written_over(UINT32_MAX);
}

/* Runs the function in a child, as limits cannot be raised again. */
static int in_child(int (*fn)(void))
{
    pid_t pid = fork();
    int status = 1;

    if (pid == 0)
        _exit(fn());
    waitpid(pid, &status, 0);
    return status;
}

/* The limits that sshd's child sets before it sandboxes itself. */
static int no_files_no_sizes(void)
{
    struct rlimit none = {0, 0};

    if (create() || setrlimit(RLIMIT_FSIZE, &none) || setrlimit(RLIMIT_NOFILE, &none) ||
        unlink(path))
        return 10;
    return take(60) == 60 ? 0 : 20;
}

/* The address sanitizer does not work with a limit of address space. */
#ifndef SHADOWED
static int little_address_space(void)
{
    struct rlimit lim = {(rlim_t)1 << 30, (rlim_t)1 << 30};

    if (setrlimit(RLIMIT_AS, &lim) || create())
        return 10;
    if (w.extents[0].mapped != 16384)
        return 20;
    if (take(60) != 60)
        return 30;
    drop();
    return 0;
}
#endif

static int sizes_limited(void)
{
    struct rlimit lim = {10 * 65536 + 1000, 10 * 65536 + 1000};

    if (setrlimit(RLIMIT_FSIZE, &lim) || create())
        return 10;
    if (take(60) > 12 || w.error != -EFBIG || w.used < 9 * 65536 || w.used > lim.rlim_cur)
        return 20;
    drop();
    return 0;
}

int main(void)
{
    test_growing();
    test_reading();
    test_reserve();
    test_cut_short();
    is_int(in_child(units_zeroed), 0, "a header whose units were zeroed lets the trace grow");
    is_int(in_child(units_raised), 0, "a header whose units were raised lets the trace grow");
    if (populates)
        is_int(in_child(no_files_no_sizes), 0,
               "without descriptors, file sizes or a path the trace grows");
#ifndef SHADOWED
    is_int(in_child(little_address_space), 0, "with little address space no room is mapped ahead");
#endif
    is_int(in_child(sizes_limited), 0, "the trace grows up to a file size limit without a signal");
    return done_testing();
}
