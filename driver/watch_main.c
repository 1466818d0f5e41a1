/*
 * flame watch: moments of a process that is being recorded already, by its trace.
 *
 * Nothing is asked of the process, and no thread is needed: the only one sleeps from look to look,
 * and signals end the sleep. A trace belongs to a process if the process has mapped the file, as
 * its number may be another's by now, or be counted in another namespace.
 */
#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <time.h>
#include <unistd.h>

#include "common/alloc.h"
#include "common/commands.h"
#include "common/error.h"
#include "common/options/values.h"
#include "common/procmaps.h"
#include "common/strbuf.h"
#include "common/trace/trace_moments.h"
#include "driver/watch/glance.h"
#include "driver/watch/momentwatch.h"

struct watching {
    struct moment_pace pace;
    bool quiet;
    char *path;
    struct trace_header header;
    dev_t dev;
    ino_t ino;
};

static int take_every(void *at, const struct opts_row *row, const struct opts_given *given)
{
    (void)row;
    return moment_pace_parse(given->value, at) ? 0 : opts_wrong_value(given, MOMENT_PACE_WANTED);
}

#define AT(member) offsetof(struct watching, member)

static const struct opts_row rows[] = {
    {"every", 'e', "TIME|BYTES",
     "take a moment every TIME (500ms, 10s), or whenever the process has grown or shrunk by BYTES "
     "(64m) (default: often at first and then every second)",
     .take = take_every, .at = AT(pace)},
    {"quiet", 'q', NULL, "do not say what was taken", .take = opts_take_true, .at = AT(quiet)},
    {0},
};

const struct opts_command watch_command = {
    .name = "watch",
    .summary = "keep what is live in a recorded process as time goes by",
    .usage = "[OPTION...] PID|TRACE",
    .about = "Takes moments of a process whose memory is being recorded, until it ends or this\n"
             "is interrupted: TRACE.moments, for --at and --from of 'flame fold' and others.\n"
             "USR1 and USR2 take one at once.",
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

/* The first file that the process has mapped and that is a trace of its own. */
static bool find_trace(const struct procmap *map, void *arg)
{
    struct watching *w = arg;
    struct trace_header h;
    char *path;

    if (!map->shared || !map->inode || !map->name_len || map->name[0] != '/')
        return false;
    path = xmemdup0(map->name, map->name_len);
    if (!glance_header(path, &h)) {
        free(path);
        return false;
    }
    w->path = path;
    return true;
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
    if (!procmaps_each((int)n, find_trace, w))
        return flame_error(FLAME_USAGE,
                           "watch: process %s is not recorded, or not yours to look at; start it "
                           "with 'flame mem', or see flame-preload(7)",
                           pid);
    return 0;
}

/* Moments that were taken before are gone on with, and not while somebody takes them. */
static int go_on(const struct watching *w, struct momentwatch *moments)
{
    struct strbuf path = STRBUF_INIT;
    int err = momentwatch_go_on(moments), status = 0;

    strbuf_addf(&path, "%s" TRACE_MOMENTS_ENDING, w->path);
    if (err == EWOULDBLOCK)
        status = flame_error(FLAME_USAGE,
                             "watch: %s: moments of this process are being taken already; see them "
                             "with 'flame fold --at TIME %s', or end who takes them",
                             path.buf, w->path);
    else if (err)
        status = flame_cannot_write(path.buf, -err);
    strbuf_release(&path);
    return status;
}

static int find(struct watching *w, const char *what)
{
    struct stat st;
    int status = 0;

    if (is_number(what) && access(what, F_OK) != 0)
        status = find_of_pid(w, what);
    else
        w->path = xstrdup(what);
    if (status)
        return status;
    if (stat(w->path, &st) != 0)
        return flame_cannot_read(w->path, -errno);
    if (!glance_header(w->path, &w->header))
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

/* Sleeps. The signal that came, or 0. */
static int pause_for(const sigset_t *set, unsigned ms)
{
    struct timespec t = {ms / 1000, (long)(ms % 1000) * 1000000};
    int sig = sigtimedwait(set, NULL, &t);

    return sig > 0 ? sig : 0;
}

static void watch(struct watching *w, struct momentwatch *moments)
{
    sigset_t set;
    int sig = 0;

    block(&set);
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
        sig = pause_for(&set, ms);
    }
    momentwatch_look_now(moments);
}

static int say(const struct watching *w, const struct momentwatch *moments)
{
    int err = momentwatch_error(moments);

    if (err) {
        struct strbuf path = STRBUF_INIT;

        strbuf_addf(&path, "%s" TRACE_MOMENTS_ENDING, w->path);
        flame_cannot_write(path.buf, -err);
        strbuf_release(&path);
        return FLAME_FAILED;
    }
    if (!w->quiet)
        flame_warn("%" PRIu64 " moments in %s" TRACE_MOMENTS_ENDING
                   "; see one with 'flame fold --at TIME %s'",
                   momentwatch_taken(moments), w->path, w->path);
    return FLAME_OK;
}

int watch_main(int argc, char **argv)
{
    struct watching w = {.path = NULL};
    int first, status = opts_parse(&watch_command, &w, argc, argv, &first);
    struct momentwatch *moments;

    if (status < 0 && argc - first != 1)
        status =
            flame_error(FLAME_USAGE, "watch: takes one process or trace; got %d", argc - first);
    if (status < 0 && !(status = find(&w, argv[first]))) {
        moments = momentwatch_of(w.path, &w.header, &w.pace);
        status = go_on(&w, moments);
        if (!status) {
            watch(&w, moments);
            status = say(&w, moments);
        }
        momentwatch_free(moments);
    }
    free(w.path);
    return status;
}
