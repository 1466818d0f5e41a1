#define _GNU_SOURCE
#include "driver/live/liverecorder.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "common/alloc.h"
#include "common/error.h"
#include "common/files/plainfile.h"
#include "common/strbuf.h"
#include "common/trace/trace_reader.h"
#include "driver/rundir/open_writers.h"
#include "driver/rundir/output_link.h"
#include "driver/rundir/rundir.h"
#include "driver/live/liverun.h"
#include "driver/run/launch.h"
#include "driver/run/recording.h"
#include "fold/analysis/recordingset.h"
#include "driver/monitor/recordedtrace.h"

#define LOOK_NS 20000000

/* The trace that a recorder writes below `dir`, in the directory of its own run. */
static char *find_trace(const char *dir, pid_t pid)
{
    struct strbuf path = STRBUF_INIT;
    DIR *d = opendir(dir);
    struct dirent *e;
    bool found = false;

    while (d && !found && (e = readdir(d))) {
        if (e->d_name[0] == '.')
            continue;
        strbuf_clear(&path);
        strbuf_addf(&path, "%s/%s/attached.%d.0.flame", dir, e->d_name, (int)pid);
        found = access(path.buf, R_OK) == 0;
        if (found)
            break;
        strbuf_clear(&path);
        strbuf_addf(&path, "%s/%s/" RUNDIR_WAITS, dir, e->d_name);
        found = access(path.buf, R_OK) == 0;
    }
    if (d)
        closedir(d);
    if (found)
        return strbuf_detach(&path, NULL);
    strbuf_release(&path);
    return NULL;
}

static void see(const char *path, void *arg)
{
    (void)path;
    *(bool *)arg = true;
}

/* The trace of a program that liverecorder_start() started. For memory it is a directory, as each
 * process has its own trace. NULL: no trace yet. */
static char *find_started(const char *dir, enum live_what what)
{
    struct strbuf path = STRBUF_INIT;
    DIR *d = opendir(dir);
    struct dirent *e;
    bool found = false;

    while (d && !found && (e = readdir(d))) {
        if (e->d_name[0] == '.')
            continue;
        strbuf_clear(&path);
        strbuf_addf(&path, "%s/%s%s", dir, e->d_name, what == LIVE_MEMORY ? "" : "/" RUNDIR_WAITS);
        if (what == LIVE_MEMORY)
            rundir_each_trace(path.buf, see, &found);
        else
            found = access(path.buf, R_OK) == 0;
    }
    if (d)
        closedir(d);
    if (found)
        return strbuf_detach(&path, NULL);
    strbuf_release(&path);
    return NULL;
}

/* ---- the recorder's process ---- */

/* Has the recorder end when the process that shows the trace ends, also if that has ended
 * already. */
static void end_with(pid_t parent)
{
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    if (getppid() != parent)
        _exit(FLAME_FAILED);
    setpgid(0, 0);
}

static FLAME_NORETURN void become_recorder(const struct liverecorder *r, pid_t pid,
                                           enum live_what what, const char *dir, int errors,
                                           pid_t parent)
{
    char number[16];
    const char *argv[10];
    size_t n = 0;
    int nothing;

    end_with(parent);
    nothing = open("/dev/null", O_RDWR | O_CLOEXEC);
    dup2(nothing, STDIN_FILENO);
    dup2(nothing, STDOUT_FILENO);
    dup2(errors, STDERR_FILENO);
    setenv("TMPDIR", dir, 1);
    snprintf(number, sizeof number, "%d", (int)pid);
    argv[n++] = "flame";
    argv[n++] = what == LIVE_MEMORY ? "mem" : "off";
    argv[n++] = "-q";
    argv[n++] = "-p";
    argv[n++] = number;
    if (what == LIVE_WAITS)
        argv[n++] = "--no-stops";
    argv[n++] = "-o";
    argv[n++] = r->result;
    argv[n] = NULL;
    execv("/proc/self/exe", (char **)argv);
    flame_error(FLAME_FAILED, "%s: cannot start the recorder: %s", r->me, strerror(errno));
    _exit(FLAME_FAILED);
}

/* Prints the recorder's messages on standard error. Returns its status, or FLAME_FAILED if that
 * is 0. */
static int say_why(struct liverecorder *r, int wait_status)
{
    struct strbuf said = STRBUF_INIT;
    int status = WIFEXITED(wait_status) ? WEXITSTATUS(wait_status) : FLAME_FAILED;

    strbuf_read_fd(&said, r->errors);
    if (said.len)
        fwrite(said.buf, 1, said.len, stderr);
    else
        status = flame_error(FLAME_FAILED, "%s: the recorder has ended before it began", r->me);
    strbuf_release(&said);
    return status ? status : FLAME_FAILED;
}

static int wait_for_trace(struct liverecorder *r, pid_t pid, const char *dir)
{
    int wait_status;

    for (;;) {
        r->trace = find_trace(dir, pid);
        if (r->trace)
            return 0;
        if (waitpid(r->child, &wait_status, WNOHANG) == r->child) {
            r->child = 0;
            return say_why(r, wait_status);
        }
        nanosleep(&(struct timespec){0, LOOK_NS}, NULL);
    }
}

static int start(struct liverecorder *r, pid_t pid, enum live_what what, const char *dir)
{
    struct strbuf result = STRBUF_INIT;
    pid_t parent = getpid();
    int pipes[2];

    if (pipe2(pipes, O_CLOEXEC) != 0)
        return flame_error(FLAME_FAILED, "%s: cannot make a pipe: %s", r->me, strerror(errno));
    strbuf_addf(&result, "%s/whole.flame", dir);
    r->result = strbuf_detach(&result, NULL);
    fflush(NULL);
    r->child = fork();
    if (r->child == 0)
        become_recorder(r, pid, what, dir, pipes[1], parent);
    close(pipes[1]);
    r->errors = pipes[0];
    if (r->child < 0) {
        r->child = 0;
        return flame_error(FLAME_FAILED, "%s: cannot start the recorder: %s", r->me,
                           strerror(errno));
    }
    return wait_for_trace(r, pid, dir);
}

int liverecorder_begin(struct liverecorder *r, pid_t pid, enum live_what what, const char *dir)
{
    *r = (struct liverecorder){.me = r->me, .errors = -1};
    if (kill(pid, 0) != 0 && errno == ESRCH)
        return flame_error(FLAME_USAGE, "%s: there is no process %d", r->me, (int)pid);
    if (what == LIVE_MEMORY)
        r->trace = recordedtrace_of(pid);
    return r->trace ? 0 : start(r, pid, what, dir);
}

/* Takes the recorder's result: a file, or for a started program a directory, as several
 * processes have several traces. */
static void take_result(struct liverecorder *r)
{
    r->child = 0;
    r->ended = true;
    free(r->trace);
    r->trace = xstrdup(r->command ? r->dir : r->result);
}

static int wait_for_started(struct liverecorder *r, enum live_what what)
{
    while (!(r->trace = find_started(r->dir, what))) {
        if (waitpid(r->child, &r->wait_status, WNOHANG) == r->child) {
            take_result(r);
            return access(r->result, R_OK) == 0 ? 0 : launch_exit_status(r->wait_status);
        }
        nanosleep(&(struct timespec){0, LOOK_NS}, NULL);
    }
    return 0;
}

int liverecorder_start(struct liverecorder *r, char **command, const struct liveoutput *output,
                       enum live_what what, const char *dir)
{
    struct strbuf result = STRBUF_INIT;
    pid_t parent = getpid();

    *r = (struct liverecorder){
        .me = r->me, .errors = -1, .command = command, .output = output, .dir = xstrdup(dir)};
    strbuf_addf(&result, "%s/whole.flame", dir);
    r->result = strbuf_detach(&result, NULL);
    fflush(NULL);
    r->child = fork();
    if (r->child == 0) {
        end_with(parent);
        liveoutput_take(output);
        _exit(liverun(what, command, dir, r->result));
    }
    if (r->child < 0) {
        r->child = 0;
        return flame_error(FLAME_FAILED, "%s: cannot start the recorder: %s", r->me,
                           strerror(errno));
    }
    setpgid(r->child, r->child); /* both do it: either may be first */
    return wait_for_started(r, what);
}

/* ---- recordings of others ---- */

static void set_trace(struct liverecorder *r, char *trace)
{
    free(r->trace);
    r->trace = trace;
}

/* A run has a directory of traces of memory, or one trace of waits, or both. */
static void choose_of_run(struct liverecorder *r)
{
    struct strbuf waits = STRBUF_INIT;
    bool memory = false, waiting;

    strbuf_addf(&waits, "%s/" RUNDIR_WAITS, r->run);
    rundir_each_trace(r->run, see, &memory);
    waiting = access(waits.buf, R_OK) == 0;
    r->both |= memory && waiting;
    if (waiting && (r->waits || !memory))
        set_trace(r, strbuf_detach(&waits, NULL));
    else
        set_trace(r, xstrdup(r->run));
    strbuf_release(&waits);
}

/* The result of a run that records both: the trace of waiting in it, or beside it. */
static char *find_waits(const char *result)
{
    char *path = (char *)result, *last;
    struct recordingset traces;

    recordingset_find(&traces, &path, 1, TRACE_RECORDER_OFF);
    last = xstrdup(traces.paths[traces.n - 1]);
    recordingset_release(&traces);
    if (recordingset_recorder(last) == TRACE_RECORDER_OFF)
        return last;
    free(last);
    return recording_waits_name(result);
}

/* The directory of a run is removed when its result is written. */
static bool run_has_ended(struct liverecorder *r)
{
    if (access(r->run, F_OK) == 0) {
        choose_of_run(r);
        return false;
    }
    set_trace(r, r->both && r->waits ? find_waits(r->followed) : xstrdup(r->followed));
    return true;
}

static bool is_recorded_at(pid_t pid, const char *path)
{
    char *now = recordedtrace_of(pid);
    bool is = now && strcmp(now, path) == 0;

    free(now);
    return is;
}

/* Where the kernel does not report writers, the process of a trace of memory is known. */
static bool is_written(const struct liverecorder *r)
{
    int fd = plainfile_open(r->trace, O_RDONLY);
    bool written = fd >= 0;

    if (fd >= 0 && writers_are_detectable(fd))
        written = !has_no_writers(fd);
    else if (fd >= 0 && r->writer)
        written = is_recorded_at(r->writer, r->trace);
    if (fd >= 0)
        close(fd);
    return written;
}

int liverecorder_follow(struct liverecorder *r, const char *path, enum live_what what)
{
    struct trace *t;
    int status;

    *r = (struct liverecorder){.me = r->me, .errors = -1, .followed = path};
    r->waits = what != LIVE_MEMORY;
    r->run = output_link_find(path);
    if (r->run) {
        choose_of_run(r);
        return 0;
    }
    status = trace_load_plain(path, &t);
    if (status)
        return status;
    r->trace = realpath(path, NULL);
    if (!r->trace)
        r->trace = xstrdup(path);
    r->writer = t->header.recorder == TRACE_RECORDER_MEM ? (pid_t)t->header.pid : 0;
    trace_free(t);
    return 0;
}

bool liverecorder_has_ended(struct liverecorder *r, pid_t pid)
{
    if (r->ended)
        return true;
    if (r->followed)
        return r->ended = r->run ? run_has_ended(r) : !is_written(r);
    if (r->child && waitpid(r->child, &r->wait_status, WNOHANG) == r->child) {
        take_result(r);
    } else if (!r->child) {
        r->ended = !is_recorded_at(pid, r->trace);
    }
    return r->ended;
}

void liverecorder_end(struct liverecorder *r)
{
    if (r->child) {
        kill(r->child, SIGTERM);
        while (waitpid(r->child, NULL, 0) < 0 && errno == EINTR)
            ;
    }
    if (r->errors >= 0)
        close(r->errors);
    free(r->trace);
    free(r->result);
    free(r->dir);
    free(r->run);
    *r = (struct liverecorder){.errors = -1};
}
