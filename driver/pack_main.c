/* flame pack: traces that carry the names of their addresses. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/alloc.h"
#include "common/commands.h"
#include "common/error.h"
#include "common/options/values.h"
#include "common/trace/trace_reader.h"
#include "driver/rundir/open_writers.h"
#include "driver/pack/packtraces.h"

struct request {
    struct opts_list debug_dirs;
    const char *output;
    bool quiet;
};

#define AT(member) offsetof(struct request, member)

static const struct opts_row rows[] = {
    {"output", 'o', "FILE.flame", "of a single trace: write that there, and leave it as it is",
     .take = opts_take_text, .at = AT(output)},
    {"debug-dir", .arg = "DIR", .help = "look for debug files there too, as in /usr/lib/debug",
     .take = opts_take_list, .at = AT(debug_dirs)},
    {"quiet", 'q', NULL, "do not print what was found", .take = opts_take_true, .at = AT(quiet)},
    {0},
};

const struct opts_command pack_command = {
    .name = "pack",
    .summary = "put names into traces, for reading them elsewhere and later",
    .usage = "[OPTION...] TRACE...",
    .about = "Finds the functions, lines and inlined frames of all addresses in traces, as\n"
             "the files on this machine have them now, and puts them into the traces. These\n"
             "can then be read when programs were built again, on other machines and years\n"
             "later. With '-o FILE.flame' flame mem, off, run and leak do so by themselves.",
    .tables = {{rows, 0}},
};

/* A process that still writes would write to the replaced file, which no name leads to any more. */
static int check_at_rest(const char *path)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC), status = 0;
    struct trace_header h;
    struct stat st;
    bool gone, reported;

    if (fd < 0)
        return flame_cannot_read(path, -errno);
    gone = has_no_writers(fd);
    /* Only the file's owner may learn which process writes to it. */
    reported =
        writers_are_detectable(fd) && fstat(fd, &st) == 0 && (st.st_uid == geteuid() || !geteuid());
    if (!gone && !reported && pread(fd, &h, sizeof h, 0) == (ssize_t)sizeof h)
        gone = kill((pid_t)h.pid, 0) != 0 && errno == ESRCH;
    if (!gone)
        status = flame_error(FLAME_USAGE,
                             "pack: %s: it may still be recorded; wait until that ends, or make a "
                             "copy with -o",
                             path);
    close(fd);
    return status;
}

static int check(const struct request *q, char **paths, size_t n)
{
    int status = 0;

    if (!n)
        return flame_error(FLAME_USAGE, "pack: no trace; see 'flame pack --help'");
    if (q->output && n > 1)
        return flame_error(FLAME_USAGE, "pack: -o is for one trace; got %zu", n);
    for (size_t i = 0; i < n && !status; i++) {
        struct stat st;

        if (stat(paths[i], &st) < 0)
            status = flame_cannot_read(paths[i], -errno);
        else if (!S_ISREG(st.st_mode))
            status = flame_error(FLAME_USAGE, "pack: %s: not a file; give a trace", paths[i]);
    }
    return status;
}

static bool is_same_file(const char *a, const char *b)
{
    struct stat x, y;

    return stat(a, &x) == 0 && stat(b, &y) == 0 && x.st_dev == y.st_dev && x.st_ino == y.st_ino;
}

static void say(const char *name, const char *path)
{
    struct namepack_counts c;
    struct trace *t;

    if (trace_load_quietly(path, &t) != 0)
        return;
    c = t->names ? namepack_count(t->names) : (struct namepack_counts){0};
    flame_warn("%s: names for %zu of %zu addresses in %zu files", name, c.named, c.places,
               c.modules);
    trace_free(t);
}

static int pack(const struct request *q, char **paths, size_t n)
{
    struct symbol_options opt = {.debug_dirs = q->debug_dirs.items, .ndebug_dirs = q->debug_dirs.n};
    struct packtrace *traces = xcalloc(n, sizeof *traces);
    char **real = xcalloc(n, sizeof *real);
    struct trace *t;
    int status = 0;

    for (size_t i = 0; i < n && !status; i++) {
        /* The target of a link is replaced, not the link. */
        real[i] = realpath(paths[i], NULL);
        traces[i].from = real[i] ? real[i] : paths[i];
        traces[i].to = q->output ? q->output : traces[i].from;
        /* For a file that is no trace, the error must say so, not that a process writes to it. */
        status = trace_load(paths[i], &t);
        trace_free(status ? NULL : t);
        if (!status && (!q->output || is_same_file(paths[i], q->output)))
            status = check_at_rest(paths[i]);
    }
    if (!status)
        status = pack_traces(&opt, traces, n, true);
    for (size_t i = 0; i < n && !status && !q->quiet; i++)
        say(q->output ? q->output : paths[i], traces[i].to);
    for (size_t i = 0; i < n; i++)
        free(real[i]);
    free(real);
    free(traces);
    return status;
}

int pack_main(int argc, char **argv)
{
    struct request q = {0};
    int first, status = opts_parse(&pack_command, &q, argc, argv, &first);

    if (status < 0)
        status = check(&q, argv + first, (size_t)(argc - first));
    if (!status)
        status = pack(&q, argv + first, (size_t)(argc - first));
    opts_list_release(&q.debug_dirs);
    return status;
}
