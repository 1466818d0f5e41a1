/*
 * Problem: there is no good moment to start (constructors of other libraries allocate before the
 * recorder's runs) and none to stop (_exit, SIGKILL). A fork may come from glibc or from a raw
 * system call, with other threads in the middle of recording.
 *
 * Algorithm: a state machine on the first event after the loader has relocated the program (before
 * that, the recorder would call the loader while it is active). NEW: read the options, create the
 * trace, load the unwinder. ON but not armed: this is a forked child. Private memory is a copy as
 * of the fork. The shared mapping is still the parent's file, so a new file is made, which says
 * what was live at the fork (fork_inherit.h). Nothing is needed at exit: the file is complete at
 * any instant.
 *
 * Rejected: pthread_atfork, because raw forks pass it by, and because every fork+exec would pay for
 * a trace that is not wanted.
 */
#define _GNU_SOURCE
#include "preload/lifecycle.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "common/basename.h"
#include "common/kernel.h"
#include "common/pages.h"
#include "common/procmaps.h"
#include "common/str_span.h"
#include "common/clock.h"
#include "preload/sigbus.h"
#include "preload/runtime/config.h"
#include "preload/runtime/early_environ.h"
#include "preload/store/user_names.h"
#include "preload/guard.h"
#include "preload/runtime/exec_env.h"
#include "preload/hooks_exec.h"
#include "preload/fork_inherit.h"
#include "preload/lazy_libunwind.h"
#include "preload/next_malloc.h"
#include "preload/runtime/run_status_client.h"
#include "preload/runtime/next_symbol.h"
#include "preload/runtime/elapsed.h"
#include "preload/runtime/self_status.h"
#include "preload/peak.h"
#include "preload/record.h"
#include "preload/sandbox.h"
#include "preload/runtime/log.h"
#include "preload/runtime/argv_title.h"
#include "preload/sidetables/features.h"
#include "unwind/dynsym.h"
#include "unwind/modules.h"
#include "unwind/local.h"

#define MAX_ARGS 4096
#define ENV_NAME "FLAMEMEM_OPTIONS"

enum state {
    STATE_NEW,
    STATE_BUSY, /* a thread is setting up recording */
    STATE_ON,
    STATE_OFF,
};

bool lifecycle_end_wanted;
static uint32_t never_armed;
volatile uint32_t *recording_armed = &never_armed;

static int state;
static FLAME_BULK struct config config;

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

/*
 * Leaves a note in the run's status file that this process will not be recorded, for the summary.
 * False: there is no run, and the caller must write to standard error. `err`: an errno, or 0.
 */
static bool noted(enum unrecorded_why why, int err)
{
    struct process self;
    char exe[4096];

    if (!run_status_have())
        return false;
    self_status_ask(&self);
    /* In another root directory there may be no /proc. */
    if (procmaps_program(exe, sizeof exe) <= 0)
        memcpy(exe, self.name, sizeof self.name);
    run_status_add(why, err, self.pid, exe);
    return true;
}

/*
 * Text of the command that was executed: the program's path, followed by its arguments as
 * /proc/self/cmdline has them, so that they mostly are in one page. A forked child has it from its
 * parent.
 */
#define PROGRAM_MAX 4096
#define ARGUMENTS_MAX 16384
static FLAME_BULK char executed_text[PROGRAM_MAX + ARGUMENTS_MAX];
static struct {
    bool known;
    size_t exe_size; /* with its NUL */
    size_t arguments_len;
} executed;

static char *arguments(void)
{
    return executed_text + executed.exe_size;
}

static void read_arguments(void)
{
    int fd = kernel_open("/proc/self/cmdline", O_RDONLY, 0);
    long got;

    if (fd < 0)
        return;
    while (executed.arguments_len < ARGUMENTS_MAX &&
           (got = kernel_call(SYS_read, fd, arguments() + executed.arguments_len,
                              ARGUMENTS_MAX - executed.arguments_len)) > 0)
        executed.arguments_len += (size_t)got;
    kernel_call(SYS_close, fd);
}

static void know_program(void)
{
    if (executed.known)
        return;
    procmaps_program(executed_text, PROGRAM_MAX);
    executed.exe_size = strlen(executed_text) + 1;
    self_set_program(executed_text);
    read_arguments();
    executed.known = true;
}

/* Writes one metadata record for each argument. */
static void write_arguments(struct trace_writer *w)
{
    const char *s = arguments(), *end = s + executed.arguments_len;

    for (int count = 0; s < end && count < MAX_ARGS; count++) {
        size_t len = strnlen(s, (size_t)(end - s));

        trace_writer_meta(w, TRACE_META_ARG, s, len, NULL, 0, NULL);
        s += len + 1;
    }
}

static bool is_regular(const char *path)
{
    struct stat st;
    long err = kernel_call(SYS_newfstatat, AT_FDCWD, path, &st, AT_SYMLINK_NOFOLLOW);

    /* A sandbox forbids the call: the next name is tried. */
    return err == -EPERM || (err == 0 && S_ISREG(st.st_mode));
}

/* Name of a spare file, in the directory of the status file. False: it does not fit. */
static bool spare_name(char *path, size_t size, int number)
{
    const char *name = base_name(config.notes);
    size_t len = (size_t)(name - config.notes);
    struct log_number text;
    const char *digits = log_unsigned(&text, (uint64_t)number);

    if (len + sizeof "spare." + strlen(digits) > size)
        return false;
    memcpy(path, config.notes, len);
    memcpy(path + len, "spare.", sizeof "spare." - 1);
    memcpy(path + len + sizeof "spare." - 1, digits, strlen(digits) + 1);
    return true;
}

/* Moves the spare file *number to `path`. If *number is negative or that fails, creates a file
 * there, and *number is negative from then on. -EEXIST: the name is taken, and *number is as it
 * was. */
static int create_at(struct trace_writer *w, const char *path, const struct trace_header *init,
                     int *number)
{
    char spare[CONFIG_PATH_MAX];
    int err;

    if (*number >= 0 && spare_name(spare, sizeof spare, *number)) {
        err = trace_writer_adopt(w, spare, path, init);
        if (!err || err == -EEXIST)
            return err;
    }
    *number = -1;
    return trace_writer_create(w, path, init);
}

/* Creates the file under the first free name of the pattern. */
static int create_file(struct trace_writer *w, const char *exe, const struct trace_header *init)
{
    /* A sandbox may allow the calls that make a new file, and not those for one that has a
     * length. */
    int spare = sandbox_on() ? -1 : run_status_take_spare(), err = -EEXIST;
    char path[CONFIG_PATH_MAX];
    const char *name = base_name(exe);

    for (uint32_t n = 0; n < 10000 && err == -EEXIST; n++) {
        if (!config_expand(&config, name[0] ? name : "program", init->pid, n, path, sizeof path))
            return -ENAMETOOLONG;
        err = create_at(w, path, init, &spare);
        /* A trace has this name: the next one is tried. Anything else must not be touched. */
        if (err == -EEXIST && !is_regular(path))
            return -ENOTSUP;
    }
    return err;
}

static FLAME_COLD void report_not_created(int err)
{
    enum unrecorded_why why = UNRECORDED_FAILED;

    if (err == EDQUOT && run_status_over())
        return;
    if (err == EACCES || err == EPERM || err == EROFS)
        why = UNRECORDED_USER;
    else if (err == ENOENT || err == ENOTDIR || err == ESRCH) /* /proc/PID as a root */
        why = run_status_out_of_sight();
    if (!noted(why, err))
        log_line("cannot create the trace: ", log_errno(err), ": ", config.out,
                 "; set out=PATH in " ENV_NAME "; the program runs on, nothing is recorded", NULL);
}

/*
 * The process's pid namespace, as pids of two namespaces may be the same. A forked child whose
 * parent is still there is in the parent's namespace, as the first process of a new one sees no
 * parent. Then the kernel is not asked again: that would take a tenth of the cost of a fork.
 */
static uint64_t pid_namespace(const struct process *self)
{
    static uint64_t last;
    static uint32_t last_pid;
    struct stat st;

    if (!last || self->ppid != last_pid)
        last =
            kernel_call(SYS_newfstatat, AT_FDCWD, "/proc/self/ns/pid", &st, 0) < 0 ? 0 : st.st_ino;
    last_pid = self->pid;
    return last;
}

/* Identity of a process's trace. */
struct origin_facts {
    uint32_t pid;
    uint64_t start_ns;
};

/* An allocator in the program's own file is recorded, also in forked children. */
static bool is_inside;

/* Bytes of config.max_disk that this process's trace has taken. */
static uint64_t disk_taken;

/* Takes bytes from the budgets before a trace grows; called by several threads. The run's budget
 * comes last, as it counts what it grants. */
static bool take_disk(uint64_t bytes)
{
    if (config.max_disk &&
        __atomic_add_fetch(&disk_taken, bytes, __ATOMIC_RELAXED) > config.max_disk) {
        __atomic_sub_fetch(&disk_taken, bytes, __ATOMIC_RELAXED);
        return false;
    }
    return run_status_take_disk(bytes);
}

/* `parent`: identity of the forking process's trace, or NULL. */
static int start_trace(struct trace_writer *w, uint32_t features, const struct origin_facts *parent)
{
    struct trace_header init = {
        .features = features | (config.sample ? TRACE_FEATURE_SAMPLED : 0) |
                    (any_feature_on() & FEATURE_MISUSE ? TRACE_FEATURE_MISUSE : 0) |
                    (is_inside ? TRACE_FEATURE_STATIC_ALLOCATOR : 0) |
                    (any_feature_on() & FEATURE_LIFETIMES ? TRACE_FEATURE_LIFETIMES : 0) |
                    (any_feature_on() & FEATURE_FAULTS ? TRACE_FEATURE_TOUCHED : 0),
        .sample_bytes = config.sample,
        .recorder = TRACE_RECORDER_MEM,
        .start_realtime_ns = clock_ns(CLOCK_REALTIME),
        .start_monotonic_ns = clock_ns(CLOCK_MONOTONIC),
        .peak_epoch = 1,
        .depth = config.depth,
        .unnamed_python = record_python.unnamed,
    };
    struct process self;
    int err;

    disk_taken = 0;
    know_program();
    self_status_ask(&self);
    init.pid_namespace = pid_namespace(&self);
    init.pid = self.pid;
    init.ppid = self.ppid;
    if (parent) {
        init.fork_pid = parent->pid;
        init.fork_start_ns = parent->start_ns;
    }
    describe_columns(&init);
    err = create_file(w, executed_text, &init);
    if (err) {
        report_not_created(-err);
        return err;
    }
    trace_writer_meta(w, TRACE_META_EXE, executed_text, strlen(executed_text), NULL, 0, NULL);
    trace_writer_meta(w, TRACE_META_COMM, self.name, strlen(self.name), NULL, 0, NULL);
    write_arguments(w);
    argv_title_look(w->header);
    return 0;
}

/* ---- starting ---- */

static uint32_t *armed; /* a page of its own, wiped by the kernel in forked children */

static void disarm(void)
{
    *armed = 0;
}

/* Has the kernel wipe `armed` in forked children. A sandbox that was entered before recording may
 * forbid even madvise. Then pthread_atfork reports the forks that the C library makes. */
static bool wipe_on_fork(size_t size)
{
    if (kernel_call(SYS_madvise, armed, size, MADV_WIPEONFORK) == 0) {
        pages_may_keep();
        return true;
    }
    return sandbox_on() && pthread_atfork(NULL, NULL, disarm) == 0;
}

static bool arm(void)
{
    size_t size = (size_t)getauxval(AT_PAGESZ);

    if (!armed) {
        armed = pages_alloc(size);
        if (!armed)
            return false;
        if (!wipe_on_fork(size)) {
            pages_free(armed, size);
            armed = NULL;
            return false;
        }
    }
    *armed = 1;
    recording_armed = armed;
    return true;
}

/* Removes the recorder from LD_PRELOAD: with follow=0, programs that are executed from here must
 * not load it. The entry is recognised by the library's file name at its end; the others keep their
 * places. */
static void leave_environment(void)
{
    static const char own[] = "libflamemem.so";
    char *list = getenv("LD_PRELOAD"), *out = list;

    if (!list)
        return;
    for (char *s = list; *s;) {
        size_t len = span_until(s, ": ");
        bool ours = len >= strlen(own) && memcmp(s + len - strlen(own), own, strlen(own)) == 0;

        if (!ours && len) {
            if (out != list)
                *out++ = ':';
            memmove(out, s, len);
            out += len;
        }
        s += len;
        s += span_of(s, ": ");
    }
    *out = '\0';
    if (out == list)
        unsetenv("LD_PRELOAD");
}

/* Whether the program has a sanitizer. A sanitizer replaces the allocator and half of libc (memset,
 * too), and cannot be called as early as the recorder would call it. exec_env.h keeps the library
 * out of sanitized programs that exec's functions start. */
static bool is_sanitized(void)
{
    return dynsym_anywhere("__asan_init") || dynsym_anywhere("__tsan_init") ||
           dynsym_anywhere("__msan_init");
}

FLAME_COLD void lifecycle_end(void)
{
    __atomic_store_n(&state, STATE_OFF, __ATOMIC_RELEASE);
    *recording_armed = 0;
}

/*
 * Reads the options and joins the run that they name. False: the run is over, or this process
 * belongs to another user and should not have got the recorder (it was executed without exec's
 * functions). No message is possible then.
 */
static bool join_run(void)
{
    config_parse(&config, early_getenv(ENV_NAME));
    if (config.quiet)
        log_disable();
    hooks_exec_resolve();
    exec_env_set(&config);
    if (!config.follow)
        leave_environment();
    if (config.notes[0] && run_status_open(config.notes) == -EACCES)
        return false;
    if (!sandbox_on())
        run_status_share_rules(config.notes);
    return !run_status_over();
}

/* Time when setting up began in this process, for the cost of recording. */
static uint64_t begun_ns;

static bool start(void)
{
    const char *why = NULL;

    if (getauxval(AT_SECURE))
        return false;
    if (is_sanitized()) {
        log_line(
            "the program is built with a sanitizer, which has an allocator of its own; the program "
            "runs on, nothing is recorded",
            NULL);
        return false;
    }
    /* Not earlier, because a sanitizer's clock cannot be called as early as this, like its
     * allocator. */
    begun_ns = clock_ns(CLOCK_MONOTONIC);
    sandbox_begin(config_is_filtered(early_getenv(ENV_NAME)));
    argv_title_begin();
    if (!join_run() || !config.record)
        return false;
    if (config.rss) /* Its code is on pages of its own, which are touched only then. */
        lifecycle_resident.started(&config);
    if (config.lifetimes)
        lifecycle_lifetimes.started(&config);
    if (config.touched)
        lifecycle_touched.started(&config);
    if (config.python)
        lifecycle_python.started(&config);
    if (config.kept)
        lifecycle_kept.started(&config);
    lifecycle_leak.started(&config);
    lifecycle_misuse.started(&config);
    lifecycle_asked.started(&config);
    sigbus_begin();
    next_malloc_resolve();
    if (lazy_libunwind_begin(config.referee, config.sample != 0, &why) < 0) {
        if (!noted(UNRECORDED_FAILED, 0))
            log_line(why, "; the program runs on, nothing is recorded", NULL);
        return false;
    }
    trace_writer_set_budget(take_disk);
    if (start_trace(&store.writer, TRACE_FEATURE_PEAK, NULL) < 0)
        return false;
    modules_init(config.modules);
    modules_attach(&store.writer);
    is_inside = lifecycle_entries(config.patch);
    if (is_inside)
        store.writer.header->features |= TRACE_FEATURE_STATIC_ALLOCATOR;
    threads_set_depth(config.depth);
    record_set_sample(config.sample);
    fork_inherit_set(config.inherit);
    if (run_status_have())
        record_set_over(lifecycle_end);
    if (config.referee)
        record_set_referee();
    if (!arm()) {
        if (!noted(UNRECORDED_FAILED, EINVAL))
            log_line(
                "the kernel lacks MADV_WIPEONFORK (Linux 4.14); the program runs on, nothing is "
                "recorded",
                NULL);
        return false;
    }
    if (config.sites[0])
        lifecycle_mapping_begin(config.sites);
    return true;
}

/* ---- in a forked child ---- */

/* Counts the inherited blocks as live from the beginning. */
static bool begin_with_inherited(uint64_t uncounted)
{
    struct thread_state *self = threads_self();
    uint64_t bytes;

    if (!self || !fork_inherit_write(config.sample, &bytes))
        return false;
    self->record->live_bytes = bytes;
    store.writer.header->peak_bytes = bytes;
    if (!bytes)
        store.writer.header->inherited_bytes = uncounted;
    return true;
}

/*
 * Counts events without recording them: a sandbox that was entered before the fork does not allow a
 * trace. The parent's trace is still mapped, and this process's events are counted there as not
 * recorded. The word stays armed, as this child's children are in the same state.
 */
static bool only_count(void)
{
    static uint32_t always_armed = 1;

    run_status_add(UNRECORDED_SANDBOX, 0, threads_own_tid(), executed_text);
    threads_give_up();
    recording_armed = &always_armed;
    return true;
}

static bool restart_in_child(void)
{
    struct origin_facts parent = {.pid = store.writer.header->pid,
                                  .start_ns = store.writer.header->start_monotonic_ns};
    uint64_t inherited;

    kernel_after_fork();
    if (config.rss)
        lifecycle_resident.forked();
    if (config.lifetimes)
        lifecycle_lifetimes.forked();
    if (config.touched)
        lifecycle_touched.forked();
    if (config.python)
        lifecycle_python.forked();
    if (config.kept)
        lifecycle_kept.forked();
    lifecycle_leak.forked();
    lifecycle_misuse.forked();
    lifecycle_asked.forked();
    lifecycle_mapping_forked();
    user_names_after_fork();
    inherited = store.writer.header->inherited_bytes + (uint64_t)threads_live_bytes();
    threads_after_fork();
    modules_after_fork();
    local_after_fork();
    if (run_status_over())
        return false;
    if (!config.follow) {
        if (config.unfollowed)
            run_status_add(UNRECORDED_NOT_FOLLOWED, 0, threads_own_tid(), executed_text);
        return false;
    }
    sandbox_after_fork();
    if (!sandbox_allows_trace())
        return only_count();
    fork_inherit_note_parent();
    store_after_fork();
    if (start_trace(&store.writer, TRACE_FEATURE_PEAK | TRACE_FEATURE_FORKED, &parent) < 0)
        return false;
    modules_attach(&store.writer);
    if (begin_with_inherited(inherited) && arm())
        return true;
    /* No message after the run's end, which a disk budget may have caused meanwhile. */
    if (!run_status_over() && !noted(UNRECORDED_FAILED, ENOSPC))
        log_line("no room to record the forked child; it runs on unrecorded", NULL);
    return false;
}

FLAME_COLD bool lifecycle_begin(void)
{
    int was = __atomic_load_n(&state, __ATOMIC_ACQUIRE);
    int saved = errno;
    bool ok;

    if (was == STATE_BUSY)
        features_miss_alloc();
    if (was == STATE_OFF || was == STATE_BUSY || !next_symbol_loader_is_done())
        return false;
    if (!__atomic_compare_exchange_n(&state, &was, STATE_BUSY, false, __ATOMIC_ACQ_REL,
                                     __ATOMIC_ACQUIRE))
        return false;
    guard.busy = GUARD_STARTING;
    if (was != STATE_NEW)
        begun_ns = clock_ns(CLOCK_MONOTONIC);
    ok = was == STATE_NEW ? start() : restart_in_child();
    if (ok)
        store.writer.header->startup_ns = elapsed_ns(begun_ns, clock_ns(CLOCK_MONOTONIC));
    guard.busy = GUARD_RECORDING;
    __atomic_store_n(&state, ok ? STATE_ON : STATE_OFF, __ATOMIC_RELEASE);
    errno = saved;
    return ok;
}

/* Begins recording when the library is loaded. A program that never allocates then has an empty
 * trace, which differs from a program that did not load the recorder. */
__attribute__((constructor)) static void begin_at_load(void)
{
    if (guard.busy)
        return;
    guard.busy = GUARD_RECORDING;
    recording_on();
    guard.busy = GUARD_IDLE;
}
