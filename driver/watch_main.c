/*
 * flame watch: takes moments of a process that is being recorded already, from its trace.
 *
 * It needs no help from the process and no second thread: flame sleeps between rounds, and signals
 * and the end of the process end the sleep. A trace belongs to a process if the process has mapped
 * the file; its number does not prove it, as another process may have it by now, or it may be of
 * another namespace.
 */
#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "common/alloc.h"
#include "common/basename.h"
#include "common/clock.h"
#include "common/commands.h"
#include "common/error.h"
#include "common/options/values.h"
#include "common/procmaps.h"
#include "common/strbuf.h"
#include "common/trace/trace_moments.h"
#include "driver/monitor/live_rows.h"
#include "driver/monitor/momentwatch.h"
#include "driver/monitor/partfile.h"
#include "driver/monitor/recordedtrace.h"

/* Longest time between two checks whether the process still writes to the trace: it may have
 * executed another program. */
#define LOOK_MOST_MS 1000u

/* Interval at which the size of the growing trace is checked. */
#define GROWN_MS 100u

struct watching {
    struct moment_pace pace;
    bool paced; /* an interval was set */
    struct rotation {
        bool given;
        uint64_t every_ns;    /* length of a part; 0: every_bytes is set */
        uint64_t every_bytes; /* growth of the trace that ends a part; 0: every_ns is set */
    } rotation;
    const char *output;
    uint64_t max_disk;
    bool quiet;
    char *path;
    struct trace_header header;
    dev_t dev;
    ino_t ino;
    int process; /* a pidfd; -1: the kernel has none (before Linux 5.3) */
    int signals; /* a signalfd */
};

static int take_every(void *at, const struct opts_row *row, const struct opts_given *given)
{
    struct watching *w = (struct watching *)((char *)at - row->at);

    w->paced = true;
    return moment_pace_parse(given->value, at) ? 0 : opts_wrong_value(given, MOMENT_PACE_WANTED);
}

/* As moments have it, and "10min", "1h", as parts are long. */
static int take_rotation(void *at, const struct opts_row *row, const struct opts_given *given)
{
    static const struct {
        const char *unit;
        uint64_t ns;
    } units[] = {{"min", UINT64_C(60000000000)}, {"h", UINT64_C(3600000000000)}};
    struct rotation *r = at;
    struct moment_pace pace;
    size_t len = strlen(given->value);

    (void)row;
    *r = (struct rotation){.given = true};
    for (size_t i = 0; i < ARRAY_LEN(units); i++) {
        size_t unit = strlen(units[i].unit);
        char number[32];

        if (len <= unit || len - unit >= sizeof number ||
            strcmp(given->value + len - unit, units[i].unit) != 0)
            continue;
        memcpy(number, given->value, len - unit);
        number[len - unit] = '\0';
        if (number[strspn(number, "0123456789.")] == '\0' &&
            opts_parse_time(number, units[i].ns, &r->every_ns) && r->every_ns)
            return 0;
    }
    if (!moment_pace_parse(given->value, &pace))
        return opts_wrong_value(given, "a time such as 600, 90s, 10min or 1h, bytes such as 64m");
    r->every_ns = pace.every_ns;
    r->every_bytes = pace.every_bytes;
    return 0;
}

#define AT(member) offsetof(struct watching, member)

static const struct opts_row rows[] = {
    {"every", 'e', "TIME|BYTES",
     "take a moment every TIME (500ms, 10s), or whenever the process has grown or shrunk by BYTES "
     "(64m) (default: often at first and then every second)",
     .take = take_every, .at = AT(pace)},
    {"rotate", .arg = "TIME|BYTES",
     "write the recording in parts instead: one every TIME (90s, 10min, 1h), or whenever the trace "
     "has grown by BYTES (64m)",
     .take = take_rotation, .at = AT(rotation)},
    {"output", 'o', "FILE.flame", "name the parts FILE.partNNNN.flame (default: by the trace)",
     .take = opts_take_text, .at = AT(output)},
    {"max-disk", .arg = "BYTES", "remove the oldest parts when all take more (default: never)",
     .take = opts_take_bytes, .at = AT(max_disk)},
    {"quiet", 'q', NULL, "do not print what was taken", .take = opts_take_true, .at = AT(quiet)},
    {0},
};

const struct opts_command watch_command = {
    .name = "watch",
    .summary = "keep what is live in a recorded process as time goes by",
    .usage = "[OPTION...] PID|TRACE",
    .about = "Takes moments of a process whose memory is being recorded, until it ends or this\n"
             "is interrupted: TRACE.moments, for --at and --from of 'flame fold' and others.\n"
             "USR1 and USR2 take one at once. With --rotate the recording is written in parts\n"
             "instead, which 'flame fold PART...' adds up again.",
    .tables = {{rows, 0}},
};

/* ---- which trace ---- */

static bool is_it(const struct procmap *map, void *arg)
{
    const struct watching *w = arg;

    return map->shared && map->inode == w->ino && map->major == major(w->dev) &&
           map->minor == minor(w->dev);
}

static bool is_mapped(struct watching *w, uint32_t pid)
{
    return procmaps_each((int)pid, is_it, w);
}

static bool is_number(const char *s)
{
    return *s && s[strspn(s, "0123456789")] == '\0';
}

static int find_of_pid(struct watching *w, const char *pid)
{
    unsigned long n = strtoul(pid, NULL, 10);

    if (!n || n > INT32_MAX || (kill((pid_t)n, 0) != 0 && errno == ESRCH))
        return flame_error(FLAME_USAGE, "watch: there is no process %s", pid);
    w->path = recordedtrace_of((pid_t)n);
    if (!w->path)
        return flame_error(FLAME_USAGE,
                           "watch: process %s is not recorded, or you may not inspect it; start it "
                           "with 'flame mem', or see flame-preload(7)",
                           pid);
    return 0;
}

/* Continues the moments that were taken before, unless another process takes them. */
static int go_on(const struct watching *w, struct momentwatch *moments)
{
    struct strbuf path = STRBUF_INIT;
    int err = momentwatch_go_on(moments), status = 0;

    strbuf_addf(&path, "%s" TRACE_MOMENTS_ENDING, w->path);
    if (err == EWOULDBLOCK)
        status = flame_error(FLAME_USAGE,
                             "watch: %s: moments of this process are being taken already; see them "
                             "with 'flame fold --at TIME %s', or end the process that takes them",
                             path.buf, w->path);
    else if (err)
        status = flame_cannot_write(path.buf, -err);
    strbuf_release(&path);
    return status;
}

/* Moments are beside the file, not beside a link to it. */
static char *path_of(const char *what)
{
    struct stat st;
    char *path = NULL;

    if (lstat(what, &st) == 0 && S_ISLNK(st.st_mode))
        path = realpath(what, NULL);
    return path ? path : xstrdup(what);
}

static int find(struct watching *w, const char *what)
{
    struct stat st;
    int status = 0;

    if (is_number(what) && access(what, F_OK) != 0)
        status = find_of_pid(w, what);
    else
        w->path = path_of(what);
    if (status)
        return status;
    if (stat(w->path, &st) != 0)
        return errno == ENOENT && !strchr(what, '/')
                   ? flame_error(FLAME_USAGE,
                                 "watch: %s: neither a process id nor a trace that is there; "
                                 "'pgrep NAME' lists the ids of a program",
                                 what)
                   : flame_cannot_read(w->path, -errno);
    if (!live_rows_header(w->path, &w->header))
        return flame_error(FLAME_USAGE,
                           "watch: %s: not a trace of memory; name one that is being written, or "
                           "the process",
                           w->path);
    w->dev = st.st_dev;
    w->ino = st.st_ino;
    if (!is_mapped(w, w->header.pid))
        return flame_error(FLAME_USAGE,
                           "watch: %s: its process (%" PRIu32 ") does not write to it any more",
                           w->path, w->header.pid);
    return 0;
}

/* ---- watching ---- */

static void block(sigset_t *set)
{
    static const int signals[] = {SIGINT, SIGTERM, SIGHUP, SIGUSR1, SIGUSR2};

    sigemptyset(set);
    for (size_t i = 0; i < ARRAY_LEN(signals); i++) {
        struct sigaction now;

        if (sigaction(signals[i], NULL, &now) != 0 || now.sa_handler != SIG_IGN)
            sigaddset(set, signals[i]);
    }
    sigprocmask(SIG_BLOCK, set, NULL);
}

/* Sleeps, while the process writes to the trace. The signal that came, or 0. */
static int pause_for(struct watching *w, unsigned ms)
{
    struct pollfd fds[] = {{w->signals, POLLIN, 0}, {w->process, POLLIN, 0}};
    struct signalfd_siginfo sig;

    for (;;) {
        unsigned part = ms < LOOK_MOST_MS ? ms : LOOK_MOST_MS;

        if (poll(fds, ARRAY_LEN(fds), (int)part) > 0) {
            if (fds[0].revents && read(w->signals, &sig, sizeof sig) == sizeof sig)
                return (int)sig.ssi_signo;
            return 0; /* it has ended */
        }
        ms -= part;
        if (!ms || !is_mapped(w, w->header.pid))
            return 0;
    }
}

static void watch(struct watching *w, struct momentwatch *moments)
{
    sigset_t set;
    int sig = 0;

    block(&set);
    w->signals = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
    w->process = (int)syscall(SYS_pidfd_open, w->header.pid, 0);
    while (sig == 0 || sig == SIGUSR1 || sig == SIGUSR2) {
        unsigned ms;

        if (!is_mapped(w, w->header.pid)) {
            momentwatch_end(moments);
            return;
        }
        if (sig) {
            momentwatch_look_now(moments);
            ms = momentwatch_first(moments);
        } else {
            ms = momentwatch_look(moments);
        }
        if (momentwatch_error(moments))
            return;
        sig = pause_for(w, ms);
    }
    momentwatch_look_now(moments);
}

/* The traces of a run of flame's lie in a directory of their own, which goes when it ends. */
static bool is_of_run(const struct watching *w)
{
    struct strbuf notes = STRBUF_INIT;
    bool is;

    strbuf_add(&notes, w->path, (size_t)(base_name(w->path) - w->path));
    strbuf_addstr(&notes, "notes");
    is = strstr(w->path, "/flame-") && access(notes.buf, F_OK) == 0;
    strbuf_release(&notes);
    return is;
}

static void say_where(const struct watching *w, uint64_t taken, const char *path)
{
    if (is_of_run(w) || access(w->path, F_OK) != 0)
        flame_warn("%" PRIu64 " moments of process %" PRIu32
                   "; they go with what the run that records "
                   "it writes if that is a trace (-o x.flame, then 'flame fold --at TIME "
                   "x.flame'), else they are gone with the run",
                   taken, w->header.pid);
    else
        flame_warn("%" PRIu64 " moments in %s; see one with 'flame fold --at TIME %s'", taken, path,
                   w->path);
}

static int say(const struct watching *w, const struct momentwatch *moments)
{
    struct strbuf path = STRBUF_INIT;
    int err = momentwatch_error(moments), status = FLAME_OK;

    strbuf_addf(&path, "%s" TRACE_MOMENTS_ENDING, w->path);
    if (err)
        flame_cannot_write(path.buf, -err);
    else if (momentwatch_taken(moments) && access(path.buf, F_OK) != 0)
        status = flame_error(
            FLAME_FAILED,
            "watch: %s: is gone with its moments: it was removed while they were taken", path.buf);
    else if (!w->quiet)
        say_where(w, momentwatch_taken(moments), path.buf);
    strbuf_release(&path);
    return err ? FLAME_FAILED : status;
}

/* ---- parts ---- */

/* Milliseconds until the next check whether the part that began at begin_ns has to end; 0: now. */
static unsigned until_seam(const struct watching *w, const struct partfile *parts,
                           uint64_t begin_ns)
{
    uint64_t passed = clock_ns(CLOCK_MONOTONIC) - begin_ns, left;

    if (w->rotation.every_bytes)
        return partfile_grown(parts) >= w->rotation.every_bytes ? 0 : GROWN_MS;
    if (passed >= w->rotation.every_ns)
        return 0;
    left = (w->rotation.every_ns - passed + 999999) / 1000000;
    return left < LOOK_MOST_MS ? (unsigned)left : LOOK_MOST_MS;
}

static void rotate(struct watching *w, struct partfile *parts)
{
    uint64_t begin_ns = clock_ns(CLOCK_MONOTONIC);
    sigset_t set;
    int sig = 0;

    block(&set);
    w->signals = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
    w->process = (int)syscall(SYS_pidfd_open, w->header.pid, 0);
    while ((sig == 0 || sig == SIGUSR1 || sig == SIGUSR2) && is_mapped(w, w->header.pid)) {
        unsigned ms = until_seam(w, parts, begin_ns);

        if (sig || !ms) {
            partfile_seam(parts);
            begin_ns = clock_ns(CLOCK_MONOTONIC);
            ms = until_seam(w, parts, begin_ns);
        }
        sig = pause_for(w, ms ? ms : GROWN_MS);
    }
    partfile_seam(parts);
}

static int say_parts(const struct watching *w, const struct partfile *parts)
{
    uint64_t removed = partfile_removed(parts);

    if (partfile_error(parts))
        return flame_error(FLAME_FAILED,
                           "watch: %s: the end of the recording is in no part (%s); take the trace",
                           w->path, strerror(partfile_error(parts)));
    if (!w->quiet && removed)
        flame_warn("%" PRIu64 " parts up to %s, of which %" PRIu64
                   " were removed; add them up with 'flame fold'",
                   partfile_written(parts), partfile_last(parts), removed);
    else if (!w->quiet)
        flame_warn("%" PRIu64 " parts up to %s; add them up with 'flame fold'",
                   partfile_written(parts), partfile_last(parts));
    return FLAME_OK;
}

static int write_parts(struct watching *w)
{
    struct partfile *parts;
    int status =
        partfile_new(w->path, &w->header, w->output ? w->output : w->path, w->max_disk, &parts);

    if (!status) {
        rotate(w, parts);
        status = say_parts(w, parts);
    }
    partfile_free(parts);
    return status;
}

static int take_moments(struct watching *w)
{
    struct momentwatch *moments = momentwatch_of(w->path, &w->header, &w->pace);
    int status = go_on(w, moments);

    if (!status) {
        watch(w, moments);
        status = say(w, moments);
    }
    momentwatch_free(moments);
    return status;
}

static int check_options(const struct watching *w)
{
    if (w->rotation.given && w->paced)
        return flame_error(FLAME_USAGE, "watch: --every is of moments, and --rotate of parts; "
                                        "start one watch for each");
    if (!w->rotation.given && (w->output || w->max_disk))
        return flame_error(FLAME_USAGE, "watch: %s is of parts; give --rotate, too",
                           w->output ? "-o" : "--max-disk");
    return -1;
}

int watch_main(int argc, char **argv)
{
    struct watching w = {.path = NULL, .process = -1, .signals = -1};
    int first, status = opts_parse(&watch_command, &w, argc, argv, &first);

    if (status < 0 && argc - first != 1)
        status =
            flame_error(FLAME_USAGE, "watch: takes one process or trace; got %d", argc - first);
    if (status < 0)
        status = check_options(&w);
    if (status < 0 && !(status = find(&w, argv[first])))
        status = w.rotation.given ? write_parts(&w) : take_moments(&w);
    if (w.process >= 0)
        close(w.process);
    if (w.signals >= 0)
        close(w.signals);
    free(w.path);
    return status;
}
