/*
 * launch.c: fork, exec and wait as a shell does them.
 *
 * The order matters. Forwarded signals are blocked before the fork and unblocked once the child's
 * pid is known, so none is lost between. The child restores flame's original mask and dispositions
 * before it executes. At the end flame first waits for the child's death (WNOWAIT), then clears the
 * pid, then reaps the zombie: so a handler never signals a pid that may be another process's.
 *
 * Rejected: posix_spawn, because it does not report the error of exec separately. Here a failed
 * exec in the child is reported through a pipe, so that a half-started command is never taken for
 * one that ended with status 127. Until it executes, the child runs in flame's memory, which is not
 * copied (vfork). It may change nothing there, so its arguments are prepared before.
 */
#define _GNU_SOURCE
#include "driver/run/launch.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/alloc.h"
#include "common/basename.h"
#include "common/clock.h"
#include "common/error.h"
#include "common/signals/sigxfsz.h"
#include "common/processor/processor.h"
#include "common/signals/signal_forward.h"
#include "common/strbuf.h"
#include "driver/run/target.h"

/* ---- the recorder and the environment ---- */

/* Finds a library beside flame's executable, or where it is installed: below PREFIX/lib, Debian's
 * folder of the processor's (GNU's name for it), or the lib64 of others. Paths are relative to the
 * executable, so that a build tree works wherever it is unpacked. */
static int find_beside(const char *name, const char *or_else, char **path)
{
    static const char *const places[] = {
        "", "../lib/flame/", "../lib/" PROCESSOR_NAME "-linux-gnu/flame/", "../lib64/flame/"};
    char exe[4096];
    ssize_t n = readlink("/proc/self/exe", exe, sizeof exe - 1);

    *path = NULL;
    if (n < 0)
        return flame_error(FLAME_FAILED, "/proc/self/exe: %s%s", strerror(errno), or_else);
    exe[n] = '\0';
    for (size_t i = 0; i < ARRAY_LEN(places) && !*path; i++) {
        struct strbuf candidate = STRBUF_INIT;

        strbuf_add(&candidate, exe, (size_t)(strrchr(exe, '/') + 1 - exe));
        strbuf_addstr(&candidate, places[i]);
        strbuf_addstr(&candidate, name);
        *path = realpath(candidate.buf, NULL);
        strbuf_release(&candidate);
    }
    if (!*path)
        return flame_error(
            FLAME_USAGE,
            "%s: not beside %s nor in ../lib/flame from there, or its like; install it%s", name,
            exe, or_else);
    return 0;
}

int launch_find_library(const char *name, char **path)
{
    return find_beside(name, "", path);
}

int launch_find_shim(char **path)
{
    const char *forced = getenv("FLAME_MEM_SHIM");
    int status;

    *path = NULL;
    if (forced && *forced) {
        status = target_check_shim(forced);
        if (!status && !(*path = realpath(forced, NULL)))
            status = flame_error(FLAME_FAILED, "%s: %s", forced, strerror(errno));
        return status;
    }
    status = find_beside("libflamemem.so", " or set FLAME_MEM_SHIM to its place", path);
    if (!status)
        status = target_check_shim(*path);
    if (status) {
        free(*path);
        *path = NULL;
    }
    return status;
}

void launch_choose_shim(const char *path, char **shim)
{
    const char *forced = getenv("FLAME_MEM_SHIM");
    struct strbuf other = STRBUF_INIT;
    size_t dir = (size_t)(base_name(*shim) - *shim);

    if ((forced && *forced) || !target_uses_musl(path))
        return;
    strbuf_add(&other, *shim, dir);
    strbuf_addf(&other, "musl/%s", *shim + dir);
    if (access(other.buf, R_OK) == 0) {
        free(*shim);
        *shim = strbuf_detach(&other, NULL);
    }
    strbuf_release(&other);
}

char *launch_preload_list(const char *first, const char *rest)
{
    struct strbuf list = STRBUF_INIT;

    strbuf_addstr(&list, first);
    if (rest && *rest) {
        strbuf_addch(&list, ':');
        strbuf_addstr(&list, rest);
    }
    return strbuf_detach(&list, NULL);
}

char *launch_options(const char *out, const char *user, const char *own)
{
    struct strbuf options = STRBUF_INIT;

    strbuf_addf(&options, "out=%s", out);
    while (user && *user) {
        size_t len = strcspn(user, ":");

        if (len && strncmp(user, "out=", 4) != 0) {
            strbuf_addch(&options, ':');
            strbuf_add(&options, user, len);
        }
        user += len + (user[len] == ':');
    }
    if (own && *own)
        strbuf_addf(&options, ":%s", own);
    return strbuf_detach(&options, NULL);
}

/* ---- the run ---- */

static bool is_setting_of(const char *setting, const char *name)
{
    size_t len = strlen(name);

    return strncmp(setting, name, len) == 0 && setting[len] == '=';
}

/* Our environment with these two settings in it: one block, with the strings of `own`. */
static char **make_environment(struct strbuf own[2], const char *preload, const char *options)
{
    size_t n = 0, kept = 0;
    char **env;

    strbuf_addf(&own[0], "LD_PRELOAD=%s", preload);
    strbuf_addf(&own[1], "FLAMEMEM_OPTIONS=%s", options);
    while (environ && environ[n])
        n++;
    env = xcalloc(n + 3, sizeof *env);
    for (size_t i = 0; i < n; i++)
        if (!is_setting_of(environ[i], "LD_PRELOAD") &&
            !is_setting_of(environ[i], "FLAMEMEM_OPTIONS"))
            env[kept++] = environ[i];
    env[kept++] = own[0].buf;
    env[kept++] = own[1].buf;
    return env;
}

/* In the child: becomes the command, or reports through `report_fd` why it cannot. The memory is
 * still the parent's. */
static FLAME_NORETURN void become(char **argv, char **env, const struct signal_forward_saved *saved,
                                  int report_fd)
{
    int err;

    signal_forward_put_back_all(saved);
    sigxfsz_restore();
    execvpe(argv[0], argv, env);
    err = errno;
    if (write(report_fd, &err, sizeof err) != sizeof err)
        _exit(126);
    _exit(127);
}

/* The child's pid, or -1. A function of its own, so that the child cannot change the caller's
 * registers. */
static __attribute__((noinline)) pid_t
start(char **argv, char **env, const struct signal_forward_saved *saved, int report_fd)
{
    pid_t pid = vfork();

    if (pid == 0)
        become(argv, env, saved, report_fd);
    return pid;
}

int launch_run(char **argv, const char *preload, const char *options, struct launch_result *result)
{
    struct strbuf own[] = {STRBUF_INIT, STRBUF_INIT};
    struct signal_forward_saved saved;
    uint64_t start_ns = clock_ns(CLOCK_MONOTONIC);
    struct rusage usage = {0};
    siginfo_t info;
    int report_fd[2], err = 0;
    char **env;
    ssize_t n;
    pid_t pid;

    if (pipe2(report_fd, O_CLOEXEC) < 0)
        return flame_error(FLAME_FAILED, "cannot start %s: pipe: %s", argv[0], strerror(errno));
    env = make_environment(own, preload, options);
    signal_forward_take(&saved);
    pid = start(argv, env, &saved, report_fd[1]);
    err = pid < 0 ? errno : 0;
    close(report_fd[1]);
    free(env);
    strbuf_release(&own[0]);
    strbuf_release(&own[1]);
    if (pid < 0) {
        close(report_fd[0]);
        signal_forward_put_back(&saved);
        return flame_error(FLAME_FAILED, "cannot start %s: %s", argv[0], strerror(err));
    }
    signal_forward_to(pid, &saved);

    do
        n = read(report_fd[0], &err, sizeof err);
    while (n < 0 && errno == EINTR);
    close(report_fd[0]);
    while (waitid(P_PID, (id_t)pid, &info, WEXITED | WNOWAIT) < 0 && errno == EINTR)
        ;
    signal_forward_to(0, &saved);
    while (wait4(pid, &result->wait_status, 0, &usage) < 0 && errno == EINTR)
        ;
    result->pid = (uint32_t)pid;
    result->start_ns = start_ns;
    result->elapsed_ns = clock_ns(CLOCK_MONOTONIC) - start_ns;
    result->max_resident = (uint64_t)usage.ru_maxrss * 1024;
    signal_forward_put_back(&saved);
    if (n == sizeof err)
        return flame_error(FLAME_USAGE, "%s: cannot be run: %s", argv[0], strerror(err));
    return 0;
}

int launch_exit_status(int wait_status)
{
    return WIFSIGNALED(wait_status) ? 128 + WTERMSIG(wait_status) : WEXITSTATUS(wait_status);
}

void launch_die_alike(int wait_status)
{
    struct rlimit none = {0, 0};
    int sig = WTERMSIG(wait_status);
    sigset_t set;

    if (!WIFSIGNALED(wait_status))
        return;
    setrlimit(RLIMIT_CORE, &none);
    signal(sig, SIG_DFL);
    sigemptyset(&set);
    sigaddset(&set, sig);
    sigprocmask(SIG_UNBLOCK, &set, NULL);
    raise(sig);
}
