#define _GNU_SOURCE
#include "driver/live/liveoutput.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "common/error.h"
#include "common/strbuf.h"
#include "driver/rundir/rundir.h"

#define LOOK_NS 50000000

static volatile sig_atomic_t came;

static void note(int sig)
{
    came = sig;
}

int liveoutput_open(struct liveoutput *o, const char *dir)
{
    struct strbuf path = STRBUF_INIT;
    int status = 0;

    strbuf_addf(&path, "%s/" RUNDIR_OUTPUT, dir);
    o->to = open(path.buf, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    o->from = open(path.buf, O_RDONLY | O_CLOEXEC);
    if (o->to < 0 || o->from < 0)
        status = flame_cannot_write(path.buf, -errno);
    strbuf_release(&path);
    return status ? FLAME_FAILED : 0;
}

void liveoutput_take(const struct liveoutput *o)
{
    int nothing = open("/dev/null", O_RDONLY | O_CLOEXEC);

    if (isatty(STDIN_FILENO))
        dup2(nothing, STDIN_FILENO);
    if (isatty(STDOUT_FILENO))
        dup2(o->to, STDOUT_FILENO);
    if (isatty(STDERR_FILENO))
        dup2(o->to, STDERR_FILENO);
    close(nothing);
}

/* Writing to a closed terminal fails, but the program still has to be waited for. */
static void show(struct liveoutput *o)
{
    char some[16384];
    ssize_t n;

    while ((n = read(o->from, some, sizeof some)) > 0)
        for (ssize_t at = 0, put; at<n; at += put> 0 ? put : 0) {
            put = write(STDOUT_FILENO, some + at, (size_t)(n - at));
            if (put < 0 && errno != EINTR)
                return;
        }
}

static void pass_on(pid_t child, int sig)
{
    bool whole = sig == SIGINT || sig == SIGQUIT;

    kill(whole ? -child : child, sig);
    kill(-child, SIGCONT); /* the terminal stops background processes that read from it */
}

int liveoutput_follow(struct liveoutput *o, pid_t child, int sig, const char *name)
{
    static const int signals[] = {SIGINT, SIGQUIT, SIGTERM, SIGHUP};
    struct sigaction before[ARRAY_LEN(signals)], noting = {.sa_handler = note};
    int wait_status = 0;
    pid_t ended = waitpid(child, &wait_status, WNOHANG);

    for (size_t i = 0; i < ARRAY_LEN(signals); i++) {
        sigaction(signals[i], NULL, &before[i]);
        if (before[i].sa_handler != SIG_IGN)
            sigaction(signals[i], &noting, NULL);
    }
    if (!ended && sig)
        pass_on(child, sig);
    else if (!ended)
        flame_warn("live: %s still runs; Ctrl-C ends it", name);
    for (;;) {
        show(o);
        if (ended == child || (ended < 0 && errno != EINTR))
            break;
        nanosleep(&(struct timespec){0, LOOK_NS}, NULL);
        if (came) {
            sig = came;
            came = 0;
            pass_on(child, sig);
        }
        ended = waitpid(child, &wait_status, WNOHANG);
    }
    for (size_t i = 0; i < ARRAY_LEN(signals); i++)
        sigaction(signals[i], &before[i], NULL);
    return wait_status;
}

void liveoutput_close(struct liveoutput *o)
{
    if (o->from >= 0) {
        show(o);
        close(o->from);
    }
    if (o->to >= 0)
        close(o->to);
    *o = (struct liveoutput){-1, -1};
}
