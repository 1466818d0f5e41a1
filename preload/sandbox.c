#define _GNU_SOURCE
#include "preload/sandbox.h"

#include <errno.h>
#include <fcntl.h>
#ifdef __GLIBC__
#include <gnu/libc-version.h>
#endif
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>

#include "common/pages.h"
#include "preload/lazy_libunwind.h"
#include "preload/runtime/self_status.h"
#include "preload/runtime/seccomp_filter.h"
#include "preload/store/store.h"
#include "preload/threads.h"
#include "unwind/sharedrules.h"

/* Resources that are acquired before the process enters a sandbox. Address space costs nothing
 * until it is used; segments of the trace are on the disk. */
#define RESERVED_MEMORY ((size_t)512 << 20)
#define RESERVED_SEGMENTS 32
#define MAPPED_SEGMENTS 256

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23
#endif

/* A copy of a filter in force; never freed, as other threads may be running it. */
struct entered_filter {
    const struct entered_filter *older;
    size_t n;
    struct sock_filter code[];
};

static struct {
    const struct entered_filter *newest;
    bool strict;  /* only read, write, exit and sigreturn are allowed, and none of the recorder's
                   * calls */
    bool within;  /* there were filters before the recorder, and their rules are unknown */
    uint32_t pid; /* of the process that records; 0: not known */
} box;

static bool passes(const struct entered_filter *f, const struct seccomp_data *call)
{
    return (seccomp_filter_run(f->code, f->n, call) & SECCOMP_RET_ACTION_FULL) == SECCOMP_RET_ALLOW;
}

#ifdef __GLIBC__
/* Whether this is the call that the C library makes for fstat. It was newfstatat for some years. */
static bool is_its_fstat(long number)
{
    const char *version = gnu_get_libc_version(); /* "2.36" */
    unsigned minor = 0;

    for (const char *s = version + 2; *s >= '0' && *s <= '9'; s++)
        minor = minor * 10 + (unsigned)(*s - '0');
    return number == (minor >= 33 && minor < 39 ? SYS_newfstatat : SYS_fstat);
}

/* Whether the loader itself makes the call, one of those in starts_programs. */
static bool is_its_own(long number FLAME_UNUSED)
{
    return true;
}
#else
static bool is_its_fstat(long number)
{
    return number == SYS_fstat;
}

/* musl opens files by SYS_open, and does not read limits. */
static bool is_its_own(long number)
{
    return number != SYS_openat && number != SYS_prlimit64;
}
#endif

/*
 * Whether the call was made to start this program. A filter that was there when the program began
 * has let the loader and the C library start it. Calls that they make to do so are let through, and
 * so is write, as hardly any program has no output.
 */
static bool starts_programs(long number)
{
    switch (number) {
    case SYS_openat:
    case SYS_read:
    case SYS_pread64:
    case SYS_close:
    case SYS_mmap:
    case SYS_munmap:
    case SYS_mprotect:
    case SYS_prlimit64:
    case SYS_write:
        return is_its_own(number);
    default:
        return is_its_fstat(number);
    }
}

static bool passes_call(const struct entered_filter *f, long number, const unsigned long args[6])
{
    struct seccomp_data call = seccomp_filter_data(number, args);

    return passes(f, &call);
}

static bool gate(long number, const unsigned long args[6])
{
    struct seccomp_data call = seccomp_filter_data(number, args);
    const struct entered_filter *f = __atomic_load_n(&box.newest, __ATOMIC_ACQUIRE);

    if (__atomic_load_n(&box.strict, __ATOMIC_ACQUIRE) || (box.within && !starts_programs(number)))
        return false;
    for (; f; f = f->older)
        if (!passes(f, &call))
            return false;
    return true;
}

/* ---- before the sandbox ---- */

/* Whether memory can be read. Where the kernel may not be asked, the program's pointer is
 * trusted. */
static bool is_readable(const void *p, size_t size)
{
    return p && (kernel_readable((uintptr_t)p, size) ||
                 !kernel_allows(SYS_rt_sigprocmask, 0, p, 0L, 8L));
}

/* A copy of the filter. NULL: the kernel will not accept it either, or *no_memory. */
static struct entered_filter *copy_of(const struct sock_fprog *prog, bool *no_memory)
{
    struct entered_filter *f;

    *no_memory = false;
    if (!is_readable(prog, sizeof *prog) || !prog->len || prog->len > BPF_MAXINSNS ||
        !is_readable(prog->filter, prog->len * sizeof *prog->filter))
        return NULL;
    f = pages_alloc(sizeof *f + prog->len * sizeof *f->code);
    *no_memory = !f;
    if (!f)
        return NULL;
    f->n = prog->len;
    memcpy(f->code, prog->filter, f->n * sizeof *f->code);
    return f;
}

struct needed_call {
    long number;
    long instead; /* another call that serves as well; 0: none */
    unsigned long args[6];
};

/* Calls that may be needed later, with the arguments that filters check. */
static const struct needed_call for_memory[] = {
    {SYS_mmap,
     0,
     {0, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, (unsigned)-1}},
};

static const struct needed_call to_fill_the_trace[] = {
    {SYS_madvise, 0, {4096, TRACE_SEGMENT_SIZE, MADV_POPULATE_WRITE}},
};

static const struct needed_call to_open_the_trace[] = {
    {SYS_openat, 0, {(unsigned)AT_FDCWD, 4096, O_RDWR | O_CLOEXEC | O_NOFOLLOW}},
    {SYS_fstat, SYS_newfstatat, {3, 4096}},
    {SYS_prlimit64, 0, {0, RLIMIT_FSIZE, 0, 4096}},
    {SYS_fallocate, SYS_write, {3}},
    {SYS_mmap, 0, {0, TRACE_SEGMENT_SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, 3}},
    {SYS_close, 0, {3}},
};

/* Whether `f`, which is not in force yet, will let all the calls through. NULL: strict mode. */
static bool will_pass(const struct entered_filter *f, const struct needed_call *calls, size_t n)
{
    bool all = f != NULL;

    for (size_t i = 0; all && i < n; i++)
        all = passes_call(f, calls[i].number, calls[i].args) ||
              (calls[i].instead && passes_call(f, calls[i].instead, calls[i].args));
    return all;
}

#define WILL_PASS(f, calls) will_pass(f, calls, ARRAY_LEN(calls))

static void take_ahead(const struct entered_filter *f)
{
    lazy_libunwind_before_sandbox();
    if (!WILL_PASS(f, for_memory))
        pages_reserve(RESERVED_MEMORY);
    trace_writer_reserve(&store.writer, WILL_PASS(f, to_fill_the_trace) ? 0 : RESERVED_SEGMENTS,
                         WILL_PASS(f, to_open_the_trace) ? 0 : MAPPED_SEGMENTS);
    threads_before_sandbox();
}

/* ---- entering ---- */

/* Whether the process that enters is the recorded one. A child of vfork shares the memory and not
 * the sandbox: a filter that it enters is its own. */
static bool is_ours(void)
{
    struct process self;

    self_status_ask(&self);
    return !box.pid || !self.pid || self.pid == box.pid;
}

static long enter(const struct sandbox_entry *entry, struct entered_filter *f)
{
    const struct entered_filter *older = box.newest;
    bool was_strict = box.strict;
    kernel_gate *was = kernel_gatekeeper;
    long result;

    kernel_shut();
    if (f) {
        f->older = older;
        __atomic_store_n(&box.newest, f, __ATOMIC_RELEASE);
    } else {
        __atomic_store_n(&box.strict, true, __ATOMIC_RELEASE);
    }
    __atomic_store_n(&kernel_gatekeeper, gate, __ATOMIC_RELEASE);
    result = entry->call(entry->args);
    if (result == -1 || (result > 0 && entry->names_thread)) {
        __atomic_store_n(&kernel_gatekeeper, was, __ATOMIC_RELEASE);
        __atomic_store_n(&box.strict, was_strict, __ATOMIC_RELEASE);
        __atomic_store_n(&box.newest, older, __ATOMIC_RELEASE);
    }
    kernel_reopen();
    return result;
}

long sandbox_enter(const struct sandbox_entry *entry, bool prepare)
{
    struct entered_filter *f = NULL;
    bool no_memory = false;
    int saved = errno;

    if (!entry->strict)
        f = copy_of(entry->filter, &no_memory);
    if (!is_ours() || (!entry->strict && !f && !no_memory)) {
        errno = saved;
        return entry->call(entry->args);
    }
    if (prepare)
        take_ahead(f);
    /* A process in a sandbox must not pass anything to processes outside. */
    sharedrules_drop(NULL);
    errno = saved;
    return enter(entry, f);
}

/* ---- beginning ---- */

/*
 * Whether this process was started in a sandbox. A container has filters as well, over all of its
 * processes: they are made for any program, and fail calls rather than kill. An unreadable /proc
 * means that there are restrictions.
 */
static bool is_within(struct process *self, bool filtered)
{
    struct process first;
    int others;

    if (!self_status_read("/proc/self/status", self))
        return true;
    /* If the kernel does not count filters, there may be another beside the tracer's. */
    others = self->filters - (filtered && self->counted && self->filters);
    if (!others)
        return false;
    return !self_status_read("/proc/1/status", &first) || others > first.filters;
}

void sandbox_begin(bool filtered)
{
    struct process self;

    box.within = is_within(&self, filtered);
    if (box.within)
        kernel_gatekeeper = gate;
    box.pid = self.pid;
    threads_learn_ids(self.pid);
}

void sandbox_after_fork(void)
{
    struct process self;

    self_status_ask(&self);
    box.pid = self.pid;
}

bool sandbox_allows_trace(void)
{
    for (size_t i = 0; sandbox_on() && i < ARRAY_LEN(to_open_the_trace); i++) {
        const struct needed_call *call = &to_open_the_trace[i];

        if (!gate(call->number, call->args) && !(call->instead && gate(call->instead, call->args)))
            return false;
    }
    return true;
}
