/*
 * launch.c: fork, exec and wait with the manners of a shell.
 *
 * The order is what matters. The signals we pass on are blocked before the fork
 * and let through once the child's pid is known, so none is lost between; the
 * child puts back the mask and the dispositions we had before it executes. At
 * the end the child is first seen dead (WNOWAIT), then the pid forgotten, then
 * the zombie reaped: a handler never signals a pid that may be another's.
 *
 * posix_spawn would do but for the error: exec failing in the child is told
 * through a pipe, so that a half-started command is never taken for one that
 * ended with status 127.
 */
#define _GNU_SOURCE
#include "driver/launch.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/clock.h"
#include "common/error.h"
#include "common/fsize.h"
#include "common/signal_forward.h"
#include "common/strbuf.h"
#include "driver/target.h"

/* ---- the shim and the environment ---- */

int launch_find_shim(char **path)
{
    static const char *const places[] = {"libflamemem.so", "../lib/flame/libflamemem.so"};
    const char *forced = getenv("FLAME_MEM_SHIM");
    char exe[4096];
    ssize_t n;
    int status;

    *path = NULL;
    if (forced && *forced) {
        status = target_check_shim(forced);
        if (!status && !(*path = realpath(forced, NULL)))
            status = flame_error(FLAME_FAILED, "%s: %s", forced, strerror(errno));
        return status;
    }
    n = readlink("/proc/self/exe", exe, sizeof exe - 1);
    if (n < 0)
        return flame_error(FLAME_FAILED,
                           "/proc/self/exe: %s; set FLAME_MEM_SHIM to libflamemem.so's place",
                           strerror(errno));
    exe[n] = '\0';
    for (size_t i = 0; i < ARRAY_LEN(places) && !*path; i++) {
        struct strbuf candidate = STRBUF_INIT;

        strbuf_add(&candidate, exe, (size_t)(strrchr(exe, '/') + 1 - exe));
        strbuf_addstr(&candidate, places[i]);
        *path = realpath(candidate.buf, NULL);
        strbuf_release(&candidate);
    }
    if (!*path)
        return flame_error(FLAME_USAGE,
                           "libflamemem.so: not beside %s nor in ../lib/flame from there; install "
                           "it or set FLAME_MEM_SHIM to its place",
                           exe);
    status = target_check_shim(*path);
    if (status) {
        free(*path);
        *path = NULL;
    }
    return status;
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

/* In the child: becomes the command, or tells why not through `tell`. */
static FLAME_NORETURN void become(char **argv, const char *preload, const char *options,
                                  const struct signal_forward_saved *saved, int tell)
{
    int err;

    signal_forward_put_back(saved);
    fsize_restore_signal();
    if (setenv("LD_PRELOAD", preload, 1) == 0 && setenv("FLAMEMEM_OPTIONS", options, 1) == 0)
        execvp(argv[0], argv);
    err = errno;
    if (write(tell, &err, sizeof err) != sizeof err)
        _exit(126);
    _exit(127);
}

int launch_run(char **argv, const char *preload, const char *options, struct launch_result *result)
{
    struct signal_forward_saved saved;
    uint64_t start = clock_ns(CLOCK_MONOTONIC);
    struct rusage usage = {0};
    siginfo_t info;
    int tell[2], err = 0;
    ssize_t n;
    pid_t pid;

    if (pipe2(tell, O_CLOEXEC) < 0)
        return flame_error(FLAME_FAILED, "cannot start %s: pipe: %s", argv[0], strerror(errno));
    signal_forward_take(&saved);
    pid = fork();
    if (pid == 0)
        become(argv, preload, options, &saved, tell[1]);
    close(tell[1]);
    if (pid < 0) {
        err = errno;
        close(tell[0]);
        signal_forward_put_back(&saved);
        return flame_error(FLAME_FAILED, "cannot start %s: %s", argv[0], strerror(err));
    }
    signal_forward_to(pid, &saved);

    do
        n = read(tell[0], &err, sizeof err);
    while (n < 0 && errno == EINTR);
    close(tell[0]);
    while (waitid(P_PID, (id_t)pid, &info, WEXITED | WNOWAIT) < 0 && errno == EINTR)
        ;
    signal_forward_to(0, &saved);
    while (wait4(pid, &result->wait_status, 0, &usage) < 0 && errno == EINTR)
        ;
    result->start_ns = start;
    result->elapsed_ns = clock_ns(CLOCK_MONOTONIC) - start;
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
