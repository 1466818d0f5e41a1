/*
 * Problem: there is no good moment to start (constructors of other libraries
 * allocate before ours runs) and none to stop (_exit, SIGKILL); fork may come
 * from glibc, from a raw system call, with other threads in the middle of
 * recording.
 *
 * Algorithm: a state machine on the first event. NEW: read the options, create
 * the trace, load the unwinder. ON but not armed: we are a forked child. Private
 * memory is a copy as of the fork; the shared mapping is still the parent's
 * file, so a new file is made, the parent's nodes are copied into it (they never
 * change once written) and every block that was live at the fork, as the copied
 * shadow map has it, is counted in rows marked as inherited. Nothing is needed
 * at exit: the file is complete at any instant.
 *
 * Rejected: pthread_atfork, which raw forks pass by, and which would make every
 * fork+exec pay for a trace that nobody wants.
 */
#define _GNU_SOURCE
#include "preload/lifecycle.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "common/pages.h"
#include "preload/clock.h"
#include "preload/config.h"
#include "preload/guard.h"
#include "preload/peak.h"
#include "preload/record.h"
#include "preload/say.h"
#include "unwind/modules.h"
#include "unwind/local.h"

#define FIRST_SEGMENTS 4
#define MAX_ARGS 4096
#define ENV_NAME "FLAMEMEM_OPTIONS"

enum state {
    STATE_NEW,
    STATE_BUSY, /* some thread is at work here */
    STATE_ON,
    STATE_OFF,
};

static uint32_t never_armed;
volatile uint32_t *lifecycle_armed = &never_armed;

static int state;
static struct config config;

/* ---- facts about the process ---- */

static void describe_columns(struct trace_header *h)
{
#define COLUMN(field, unit_)                                                                       \
    {                                                                                              \
        .name = #field, .unit = unit_, .offset = offsetof(struct trace_row, field),                \
        .width = sizeof(((struct trace_row *)0)->field)                                            \
    }
    static const struct trace_column columns[] = {
        COLUMN(alloc_bytes, TRACE_UNIT_BYTES), COLUMN(alloc_calls, TRACE_UNIT_CALLS),
        COLUMN(free_bytes, TRACE_UNIT_BYTES),  COLUMN(free_calls, TRACE_UNIT_CALLS),
        COLUMN(temp_calls, TRACE_UNIT_CALLS),  COLUMN(peak_bytes, TRACE_UNIT_BYTES),
        COLUMN(peak_calls, TRACE_UNIT_CALLS),  COLUMN(peak_epoch, TRACE_UNIT_NONE),
    };
#undef COLUMN
    memcpy(h->columns, columns, sizeof columns);
    h->columns_used = ARRAY_LEN(columns);
}

static const char *exe_path(char *buf, size_t size)
{
    ssize_t n = readlink("/proc/self/exe", buf, size - 1);

    buf[n > 0 ? n : 0] = '\0';
    return buf;
}

/* /proc/self/cmdline, one metadata record an argument. */
static void write_arguments(struct trace_writer *w)
{
    char buf[16384];
    int fd = (int)syscall(SYS_openat, AT_FDCWD, "/proc/self/cmdline", O_RDONLY | O_CLOEXEC, 0);
    ssize_t n = 0, got;

    if (fd < 0)
        return;
    while (n < (ssize_t)sizeof buf && (got = syscall(SYS_read, fd, buf + n, sizeof buf - n)) > 0)
        n += got;
    syscall(SYS_close, fd);
    for (ssize_t at = 0, count = 0; at < n && count < MAX_ARGS; count++) {
        size_t len = strnlen(buf + at, (size_t)(n - at));

        trace_writer_meta(w, TRACE_META_ARG, buf + at, len, NULL, 0, NULL);
        at += (ssize_t)len + 1;
    }
}

static bool is_regular(const char *path)
{
    struct stat st;

    return fstatat(AT_FDCWD, path, &st, AT_SYMLINK_NOFOLLOW) == 0 && S_ISREG(st.st_mode);
}

/* Creates the file under the first free name of the pattern. */
static int create_file(struct trace_writer *w, const char *exe, const struct trace_header *init)
{
    char path[CONFIG_PATH_MAX];
    const char *name = strrchr(exe, '/') ? strrchr(exe, '/') + 1 : exe;
    int err = -EEXIST;

    for (uint32_t n = 0; n < 10000 && err == -EEXIST; n++) {
        if (!config_expand(&config, name[0] ? name : "program", init->pid, n, path, sizeof path))
            return -ENAMETOOLONG;
        err = trace_writer_create(w, path, init, FIRST_SEGMENTS);
        /* A trace's name is taken: the next one. Anything else: not ours to touch. */
        if (err == -EEXIST && !is_regular(path))
            return -ENOTSUP;
    }
    return err;
}

static int start_trace(struct trace_writer *w, uint32_t features)
{
    struct trace_header init = {
        .features = features | (config.sample ? TRACE_FEATURE_SAMPLED : 0),
        .sample_bytes = config.sample,
        .recorder = TRACE_RECORDER_MEM,
        .pid = (uint32_t)syscall(SYS_getpid),
        .ppid = (uint32_t)syscall(SYS_getppid),
        .start_realtime_ns = clock_ns(CLOCK_REALTIME),
        .start_monotonic_ns = clock_ns(CLOCK_MONOTONIC),
        .peak_epoch = 1,
        .depth = config.depth,
    };
    char exe[4096], comm[17] = "";
    int err;

    describe_columns(&init);
    exe_path(exe, sizeof exe);
    err = create_file(w, exe, &init);
    if (err) {
        say("cannot create the trace: ", say_errno(-err), ": ", config.out,
            "; set out=PATH in " ENV_NAME "; the program runs on, nothing is recorded", NULL);
        return err;
    }
    prctl(PR_GET_NAME, comm);
    trace_writer_meta(w, TRACE_META_EXE, exe, strlen(exe), NULL, 0, NULL);
    trace_writer_meta(w, TRACE_META_COMM, comm, strlen(comm), NULL, 0, NULL);
    write_arguments(w);
    return 0;
}

/* ---- starting ---- */

/* A page of its own for the armed word, wiped by the kernel in forked children. */
static bool arm(void)
{
    static uint32_t *page;
    size_t size = (size_t)sysconf(_SC_PAGESIZE);

    if (!page) {
        page = pages_alloc(size);
        if (!page)
            return false;
        if (madvise(page, size, MADV_WIPEONFORK) < 0) {
            pages_free(page, size);
            page = NULL;
            return false;
        }
    }
    *page = 1;
    lifecycle_armed = page;
    return true;
}

/* follow=0: programs we start must not load us. The entry is ours if it ends in
 * our file name; the others keep their places. */
static void leave_environment(void)
{
    static const char own[] = "libflamemem.so";
    char *list = getenv("LD_PRELOAD"), *out = list;

    if (!list)
        return;
    for (char *s = list; *s;) {
        size_t len = strcspn(s, ": ");
        bool ours = len >= strlen(own) && memcmp(s + len - strlen(own), own, strlen(own)) == 0;

        if (!ours && len) {
            if (out != list)
                *out++ = ':';
            memmove(out, s, len);
            out += len;
        }
        s += len;
        s += strspn(s, ": ");
    }
    *out = '\0';
    if (out == list)
        unsetenv("LD_PRELOAD");
}

static bool start(void)
{
    const char *why = NULL;

    if (getauxval(AT_SECURE))
        return false;
    /* A sanitizer replaces the allocator and half of libc, and is not ready for
     * callers this early. */
    if (dlsym(RTLD_DEFAULT, "__asan_init") || dlsym(RTLD_DEFAULT, "__tsan_init") ||
        dlsym(RTLD_DEFAULT, "__msan_init")) {
        say("the program is built with a sanitizer, which has an allocator of its own; the program "
            "runs on, nothing is recorded",
            NULL);
        return false;
    }
    config_parse(&config, getenv(ENV_NAME));
    if (config.quiet)
        say_hush();
    if (!config.follow)
        leave_environment();
    if (!config.record)
        return false;
    if (local_init(&why) < 0) {
        say(why, "; the program runs on, nothing is recorded", NULL);
        return false;
    }
    if (start_trace(&store.writer, TRACE_FEATURE_PEAK) < 0)
        return false;
    modules_init();
    modules_attach(&store.writer);
    threads_set_depth(config.depth);
    record_set_sample(config.sample);
    if (config.referee)
        record_set_referee();
    if (!arm()) {
        say("the kernel lacks MADV_WIPEONFORK (Linux 4.14); the program runs on, nothing is "
            "recorded",
            NULL);
        return false;
    }
    return true;
}

/* ---- in a forked child ---- */

struct inherit {
    struct thread_state *self;
    const struct store *parent;
    uint32_t *rows; /* old row id -> new row id; in pages */
    uint32_t nrows;
    uint64_t bytes;
};

static bool inherit_block(uintptr_t addr, struct block *b, void *arg)
{
    struct inherit *in = arg;
    struct trace_row *row;
    struct weight w;

    if (b->row >= in->nrows)
        return false;
    if (!in->rows[b->row]) {
        const struct trace_row *old =
            (const struct trace_row *)in->parent->row_segments[b->row >> TRACE_ROW_SHIFT] +
            (b->row & ((1u << TRACE_ROW_SHIFT) - 1));

        in->rows[b->row] = threads_new_row(in->self, old->node, TRACE_ROW_INHERITED);
    }
    if (!in->rows[b->row])
        return false;
    b->row = in->rows[b->row];
    row = store_row(b->row);
    w = config.sample ? sampler_weight(config.sample, b->size, addr) : (struct weight){b->size, 1};
    row->alloc_bytes += w.bytes;
    row->alloc_calls += w.calls;
    in->bytes += w.bytes;
    return true;
}

/* Counts what the parent had live at the fork as inherited here. */
static bool inherit_blocks(const struct store *parent)
{
    struct inherit in = {.parent = parent, .self = threads_self()};
    uint32_t segments = 0;

    if (!in.self)
        return false;
    while (segments < STORE_SEGMENTS && parent->row_segments[segments])
        segments++;
    in.nrows = segments << TRACE_ROW_SHIFT;
    in.rows = pages_alloc(in.nrows * sizeof *in.rows);
    if (!in.rows)
        return false;
    shadow_walk(inherit_block, &in);
    pages_free(in.rows, in.nrows * sizeof *in.rows);
    in.self->record->live_bytes = in.bytes;
    store.writer.header->peak_bytes = in.bytes;
    return true;
}

static bool restart_in_child(void)
{
    struct store *parent;
    bool ok;

    threads_after_fork();
    modules_after_fork();
    local_after_fork();
    if (!config.follow)
        return false;
    parent = pages_alloc(sizeof *parent);
    if (!parent) {
        say("no memory to record the forked child; it runs on unrecorded", NULL);
        return false;
    }
    *parent = store;
    memset(&store, 0, sizeof store);
    ok = start_trace(&store.writer, TRACE_FEATURE_PEAK | TRACE_FEATURE_FORKED) == 0;
    if (ok) {
        modules_attach(&store.writer);
        ok = store_copy(parent) == 0 && inherit_blocks(parent) && arm();
        if (!ok)
            say("no room to record the forked child; it runs on unrecorded", NULL);
    }
    trace_writer_abandon(&parent->writer);
    pages_free(parent, sizeof *parent);
    return ok;
}

FLAME_COLD bool lifecycle_begin(void)
{
    int was = __atomic_load_n(&state, __ATOMIC_ACQUIRE);
    int saved = errno;
    bool ok;

    if (was == STATE_OFF || was == STATE_BUSY)
        return false;
    if (!__atomic_compare_exchange_n(&state, &was, STATE_BUSY, false, __ATOMIC_ACQ_REL,
                                     __ATOMIC_ACQUIRE))
        return false;
    guard.busy = GUARD_STARTING;
    ok = was == STATE_NEW ? start() : restart_in_child();
    guard.busy = GUARD_RECORDING;
    __atomic_store_n(&state, ok ? STATE_ON : STATE_OFF, __ATOMIC_RELEASE);
    errno = saved;
    return ok;
}

/* A program that never allocates has an empty trace, so that whoever started it can
 * tell it from one that did not load us. */
__attribute__((constructor)) static void begin_at_load(void)
{
    if (guard.busy)
        return;
    guard.busy = GUARD_RECORDING;
    lifecycle_on();
    guard.busy = GUARD_IDLE;
}
