#define _GNU_SOURCE
#include "driver/live/livelook.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/alloc.h"
#include "common/clock.h"
#include "common/error.h"
#include "common/files/outfile.h"
#include "common/trace/trace_reader.h"
#include "driver/rundir/rundir.h"
#include "fold/analysis/recordingset.h"
#include "fold/fold.h"
#include "fold/load.h"

struct traces {
    struct trace **t;
    size_t n, room;
};

static void add(const char *path, void *arg)
{
    struct traces *all = arg;
    struct trace *t;

    if (trace_load_quietly(path, &t))
        return;
    GROW(all->t, all->n, all->room);
    all->t[all->n++] = t;
}

/* Folds the trace into the file `to`. Its warnings (modules without names and the like) are
 * discarded: they came when the recording began, or come with the finished trace. */
static FLAME_NORETURN void fold(const char *path, const char *to, int done,
                                const struct fold_options *options)
{
    struct strbuf text = STRBUF_INIT;
    int nothing = open("/dev/null", O_WRONLY | O_CLOEXEC), status;
    struct outfile out;
    struct traces all = {NULL, 0, 0};
    uint64_t ns;

    prctl(PR_SET_PDEATHSIG, SIGKILL);
    dup2(nothing, STDERR_FILENO);
    if (rundir_each_trace(path, add, &all) == -ENOTDIR) {
        struct recordingset files;

        recordingset_find(&files, (char *[]){(char *)path}, 1,
                          load_recorder(options->view, false, false));
        for (size_t i = 0; i < files.n; i++)
            add(files.paths[i], &all);
        recordingset_release(&files);
    }
    ns = clock_ns(CLOCK_MONOTONIC); /* the traces are copies from here on */
    status = all.n ? fold_loaded(options, all.t, all.n, &text) : FLAME_FAILED;
    if (!status && outfile_open(&out, to) == 0) {
        fwrite(text.buf, 1, text.len, out.f);
        status = outfile_commit(&out) ? FLAME_FAILED : 0;
    }
    if (!status && write(done, &ns, sizeof ns) != sizeof ns)
        status = FLAME_FAILED;
    close(done);
    _exit(status);
}

bool livelook_begin(struct livelook *l, const char *trace, const char *to,
                    const struct fold_options *options)
{
    int pipes[2];

    if (pipe2(pipes, O_CLOEXEC) != 0)
        return false;
    l->child = fork();
    if (l->child == 0)
        fold(trace, to, pipes[1], options);
    close(pipes[1]);
    if (l->child < 0) {
        close(pipes[0]);
        l->child = 0;
        return false;
    }
    l->done = pipes[0];
    l->to = xstrdup(to);
    return true;
}

static int reap(struct livelook *l)
{
    int status = 0;

    while (waitpid(l->child, &status, 0) < 0 && errno == EINTR)
        ;
    close(l->done);
    free(l->to);
    *l = (struct livelook){.child = 0};
    return status;
}

bool livelook_end(struct livelook *l, uint64_t *ns)
{
    char *to = xstrdup(l->to);
    ssize_t n;
    bool there;

    while ((n = read(l->done, ns, sizeof *ns)) < 0 && errno == EINTR)
        ;
    there = reap(l) == 0 && n == sizeof *ns && access(to, R_OK) == 0;
    free(to);
    return there;
}

void livelook_stop(struct livelook *l)
{
    if (!l->child)
        return;
    kill(l->child, SIGKILL);
    reap(l);
}
