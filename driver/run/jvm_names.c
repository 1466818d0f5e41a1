/*
 * A JVM that runs writes its map on request, and only for code that it has at that time. So jcmd
 * runs at the end of the recording, when the process is detached: its methods of that time have
 * names, those that were unloaded or compiled again before have none.
 *
 * Rejected: the protocol of jcmd, spoken by flame itself (a file in the process's directory,
 * SIGQUIT, a socket in /tmp). It is the JDK's own matter, and SIGQUIT kills a process that has
 * not set its handler yet.
 */
#define _GNU_SOURCE
#include "driver/run/jvm_names.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "common/alloc.h"
#include "common/basename.h"
#include "common/clock.h"
#include "common/procpath.h"
#include "common/str_starts.h"
#include "tracer/objects/proctask.h"

/* jcmd gives up after 10 s, and then removes the file by which it asks. */
#define LIMIT_S 15
#define LOOK_NS 10000000

/* ---- where jcmd is ---- */

bool jvm_names_library(pid_t pid, struct strbuf *path)
{
    FILE *f = fopen(proc_path(pid, "maps").s, "re");
    char *line = NULL;
    size_t alloc = 0;
    bool found = false;

    while (f && !found && getline(&line, &alloc, f) > 0) {
        char *at = strchr(line, '/');

        if (!at)
            continue;
        at[strcspn(at, "\n")] = '\0';
        found = strcmp(base_name(at), "libjvm.so") == 0;
        if (found)
            strbuf_addstr(path, at);
    }
    free(line);
    if (f)
        fclose(f);
    return found;
}

bool jvm_names_jcmd(const char *library, struct strbuf *path)
{
    size_t len = strlen(library);

    /* "libjvm.so", "server", "lib" */
    for (int i = 0; i < 3; i++) {
        while (len && library[len - 1] != '/')
            len--;
        if (!len)
            return false;
        len--;
    }
    strbuf_add(path, library, len);
    strbuf_addstr(path, "/bin/jcmd");
    return true;
}

/* ---- whether it may be asked ---- */

/* Whether this process and the other have the same file behind /proc/PID/WHAT. */
static bool is_shared(pid_t pid, const char *what)
{
    struct stat own, other;

    return stat(proc_path(PROC_SELF, what).s, &own) == 0 &&
           stat(proc_path(pid, what).s, &other) == 0 && own.st_dev == other.st_dev &&
           own.st_ino == other.st_ino;
}

/* Why the process is left alone; NULL: it may be asked. */
static const char *why_left(pid_t pid)
{
    unsigned long flags;
    struct stat st;
    char state;

    if (stat(proc_path(pid, "").s, &st) || !task_state(pid, &state, &flags))
        return "it has ended";
    if (st.st_uid != geteuid())
        return "it is another user's process; flame that runs as that user can have them";
    if (!is_shared(pid, "ns/mnt") || !is_shared(pid, "ns/pid") || !is_shared(pid, "root"))
        return "it is in a container, and its names would be, too; flame in there can have them";
    /* jcmd sends SIGQUIT. When it has given up, that has a JVM print the stacks of its threads. */
    if (state == 'T' || state == 't')
        return "it is stopped";
    return NULL;
}

/* ---- jcmd ---- */

/* The environment without what changes jcmd, which is a program of Java itself. */
static char **environment(void)
{
    static const char *const without[] = {
        "JAVA_TOOL_OPTIONS=", "_JAVA_OPTIONS=", "JDK_JAVA_OPTIONS=", "LD_PRELOAD="};
    size_t n = 0, kept = 0;
    char **envp;

    while (environ && environ[n])
        n++;
    envp = xcalloc(n + 1, sizeof *envp);
    for (size_t i = 0; i < n; i++) {
        bool left = false;

        for (size_t k = 0; k < ARRAY_LEN(without); k++)
            left |= starts_with(environ[i], without[k]);
        if (!left)
            envp[kept++] = environ[i];
    }
    return envp;
}

/* Starts `jcmd PID Compiler.perfmap`. 0, or an errno value. */
static int start(const char *jcmd, pid_t jvm, pid_t *child)
{
    char name[] = "jcmd", command[] = "Compiler.perfmap", number[16];
    char *argv[] = {name, number, command, NULL}, **envp = environment();
    posix_spawn_file_actions_t files;
    posix_spawnattr_t attr;
    sigset_t none, all;
    int err;

    snprintf(number, sizeof number, "%d", (int)jvm);
    sigemptyset(&none);
    sigfillset(&all);
    posix_spawnattr_init(&attr);
    posix_spawnattr_setflags(&attr, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
    posix_spawnattr_setsigmask(&attr, &none);
    posix_spawnattr_setsigdefault(&attr, &all);
    posix_spawn_file_actions_init(&files);
    posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_addopen(&files, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
    posix_spawn_file_actions_addopen(&files, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
    err = posix_spawnp(child, jcmd, &files, &attr, argv, envp);
    posix_spawn_file_actions_destroy(&files);
    posix_spawnattr_destroy(&attr);
    free(envp);
    return err;
}

/* Waits for jcmd, and ends it when the time is over. False: *why says what came of it. */
static bool wait_for(pid_t child, struct strbuf *why)
{
    uint64_t until = clock_ns(CLOCK_MONOTONIC) + (uint64_t)LIMIT_S * 1000000000u;
    bool late = false;
    int status = 0;
    pid_t done;

    while ((done = waitpid(child, &status, late ? 0 : WNOHANG)) == 0 ||
           (done < 0 && errno == EINTR)) {
        if (!late && clock_ns(CLOCK_MONOTONIC) >= until) {
            late = true;
            kill(child, SIGKILL);
        } else if (!late) {
            nanosleep(&(struct timespec){0, LOOK_NS}, NULL);
        }
    }
    if (late)
        strbuf_addf(why, "jcmd had no answer of it in %d s", LIMIT_S);
    else if (done < 0)
        strbuf_addf(why, "jcmd: %s", strerror(errno));
    else if (WIFSIGNALED(status))
        strbuf_addf(why, "signal %d ended jcmd", WTERMSIG(status));
    else if (WEXITSTATUS(status))
        strbuf_addf(why,
                    "jcmd failed (status %d), as it does with Java before 17 and with "
                    "-XX:+DisableAttachMechanism",
                    WEXITSTATUS(status));
    return why->len == 0;
}

bool jvm_names_write(pid_t pid, const char *library, struct strbuf *why)
{
    const char *left = why_left(pid);
    struct strbuf own = STRBUF_INIT;
    pid_t child;
    int err;

    if (left) {
        strbuf_addstr(why, left);
        return false;
    }
    if (!jvm_names_jcmd(library, &own) || access(own.buf, X_OK)) {
        strbuf_clear(&own);
        strbuf_addstr(&own, "jcmd"); /* in PATH */
    }
    err = start(own.buf, pid, &child);
    if (err == ENOENT)
        strbuf_addstr(why, "there is no jcmd in its JVM or in PATH; the JDK of its version has it");
    else if (err)
        strbuf_addf(why, "%s: %s", own.buf, strerror(err));
    strbuf_release(&own);
    return !err && wait_for(child, why);
}
