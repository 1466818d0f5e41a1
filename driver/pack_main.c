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
#include "common/files/trace_file.h"
#include "common/trace/trace_reader.h"
#include "driver/rundir/open_writers.h"
#include "driver/pack/packtraces.h"
#include "fold/analysis/recordingset.h"

struct request {
    struct opts_list debug_dirs;
    const char *output;
    bool quiet;
};

#define AT(member) offsetof(struct request, member)

static const struct opts_row rows[] = {
    {"output", 'o', "FILE.flame", "write all of them to this one file, and leave them as they are",
     .take = opts_take_text, .at = AT(output)},
    {"debug-dir", .arg = "DIR", .help = "look for debug files there too, as in /usr/lib/debug",
     .take = opts_take_list, .at = AT(debug_dirs)},
    {"quiet", 'q', NULL, "do not print what was found", .take = opts_take_true, .at = AT(quiet)},
    {0},
};

const struct opts_command pack_command = {
    .name = "pack",
    .summary = "put names into traces, and several into one file",
    .usage = "[OPTION...] TRACE...",
    .about = "Finds the functions, lines and inlined frames of all addresses in traces, as\n"
             "the files on this machine have them now, and puts them into the traces. These\n"
             "can then be read when programs were built again, on other machines and years\n"
             "later. With '-o FILE.flame' flame mem, off, run and leak do so by themselves.\n"
             "Several traces, and all of a recording, become one file with -o.",
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
        gone = h.traces > 1 || (kill((pid_t)h.pid, 0) != 0 && errno == ESRCH);
    if (!gone)
        status = flame_error(FLAME_USAGE,
                             "pack: %s: it may still be recorded; wait until that ends, or make a "
                             "copy with -o",
                             path);
    close(fd);
    return status;
}

/* One of several traces in a file cannot be replaced: the others would move. */
static int check_file(const struct request *q, const char *path)
{
    bool is_part = trace_file_is_part(path);
    struct stat st;

    if (is_part && !q->output)
        return flame_error(FLAME_USAGE,
                           "pack: %s: one of the traces of a file; give the file, or -o", path);
    if (is_part)
        return 0;
    if (stat(path, &st) < 0)
        return flame_cannot_read(path, -errno);
    return S_ISREG(st.st_mode)
               ? 0
               : flame_error(FLAME_USAGE, "pack: %s: not a file; give a trace", path);
}

static int check(const struct request *q, char **paths, size_t n)
{
    int status = 0;

    if (!n)
        return flame_error(FLAME_USAGE, "pack: no trace; see 'flame pack --help'");
    for (size_t i = 0; i < n && !status; i++)
        status = check_file(q, paths[i]);
    return status;
}

static bool is_same_file(const char *a, const char *b)
{
    struct stat x, y;

    return stat(a, &x) == 0 && stat(b, &y) == 0 && x.st_dev == y.st_dev && x.st_ino == y.st_ino;
}

static void add_counts(struct namepack_counts *sum, const char *path)
{
    struct namepack_counts c;
    struct trace *t;

    if (trace_load_quietly(path, &t) != 0)
        return;
    c = t->names ? namepack_count(t->names) : (struct namepack_counts){0};
    sum->named += c.named;
    sum->places += c.places;
    sum->modules += c.modules;
    trace_free(t);
}

/* Reports the names of the traces in a file that was written. */
static void say(const char *name, const char *path)
{
    struct namepack_counts sum = {0};
    struct recordingset written;

    recordingset_find(&written, (char *[]){(char *)path}, 1, RECORDINGSET_ALL);
    for (size_t i = 0; i < written.n; i++)
        add_counts(&sum, written.paths[i]);
    if (written.n > 1)
        flame_warn("%s: %zu traces", name, written.n);
    flame_warn("%s: names for %zu of %zu addresses in %zu files", name, sum.named, sum.places,
               sum.modules);
    recordingset_release(&written);
}

/* Whether what was written can be read. A pipe cannot, and standard output may be one. */
static bool is_readable(const char *path)
{
    struct stat st;

    return strcmp(path, "-") != 0 && stat(path, &st) == 0 && S_ISREG(st.st_mode);
}

/* Copies traces into one file. */
static int pack_into_one(const struct request *q, char *const *from, size_t n, const char *to)
{
    struct symbol_options opt = {.debug_dirs = q->debug_dirs.items, .ndebug_dirs = q->debug_dirs.n};
    struct packtrace *traces;
    struct trace_fileset of;
    struct tracebundle b;
    int status = 0, err;

    if (n > TRACE_LIST_MAX)
        return flame_error(FLAME_USAGE, "pack: a file can have %u traces; got %zu", TRACE_LIST_MAX,
                           n);
    err = tracebundle_open(&b, to, (uint32_t)n);
    if (err)
        return flame_cannot_write(to, err);
    traces = xcalloc(n, sizeof *traces);
    of = recordingset_new((uint32_t)n);
    for (size_t i = 0; i < n; i++, of.file++)
        traces[i] = (struct packtrace){.from = from[i], .to = to, .into = &b, .of = of};
    status = pack_traces(&opt, traces, n, true);
    if (status)
        tracebundle_abort(&b);
    if (status && b.too_large)
        flame_cannot_write(to, -EFBIG);
    else if (!status && (err = tracebundle_commit(&b)))
        status = flame_cannot_write(to, err);
    free(traces);
    return status;
}

static int pack_one(const struct request *q, const char *from, const char *to)
{
    struct symbol_options opt = {.debug_dirs = q->debug_dirs.items, .ndebug_dirs = q->debug_dirs.n};

    return pack_traces(&opt, &(struct packtrace){.from = from, .to = to}, 1, true);
}

/* Checks a trace. For a file that is no trace, the error must say so, not that a process writes to
 * it. */
static int check_trace(const struct request *q, const char *path)
{
    struct trace *t;
    int status = trace_load(path, &t);

    if (status)
        return status;
    trace_free(t);
    return !q->output || is_same_file(path, q->output) ? check_at_rest(path) : 0;
}

/* Replaces a file that has several traces; `path` has no links. */
static int pack_bundle(const struct request *q, char *path)
{
    struct recordingset all;
    int status;

    recordingset_find(&all, &path, 1, RECORDINGSET_ALL);
    status = pack_into_one(q, all.paths, all.n, path);
    recordingset_release(&all);
    return status;
}

/* Replaces traces: those that are files of their own first, together, and then files of several. */
static int replace(const struct request *q, char **real, size_t n)
{
    struct symbol_options opt = {.debug_dirs = q->debug_dirs.items, .ndebug_dirs = q->debug_dirs.n};
    struct packtrace *alone = xcalloc(n, sizeof *alone);
    char **several = xcalloc(n, sizeof *several);
    size_t nalone = 0, nseveral = 0;
    int status = 0;

    for (size_t i = 0; i < n && !status; i++) {
        uint32_t traces;

        if (trace_file_count(real[i], &traces))
            status = flame_error(FLAME_USAGE,
                                 "pack: %s: the list of its traces is damaged, or the "
                                 "file is cut; copy it again",
                                 real[i]);
        else if (traces)
            several[nseveral++] = real[i];
        else
            alone[nalone++] = (struct packtrace){.from = real[i], .to = real[i]};
    }
    if (!status)
        status = pack_traces(&opt, alone, nalone, true);
    for (size_t i = 0; i < nseveral && !status; i++)
        status = pack_bundle(q, several[i]);
    free(alone);
    free(several);
    return status;
}

static int pack_in_place(const struct request *q, char **paths, size_t n)
{
    char **real = xcalloc(n, sizeof *real);
    int status = 0;

    for (size_t i = 0; i < n && !status; i++) {
        real[i] = realpath(paths[i], NULL); /* the target of a link is replaced, not the link */
        if (!real[i])
            real[i] = xstrdup(paths[i]);
        status = check_trace(q, paths[i]);
    }
    if (!status)
        status = replace(q, real, n);
    for (size_t i = 0; i < n; i++)
        free(real[i]);
    free(real);
    return status;
}

/* Writes all traces of the recordings that are named to one file. */
static int pack_to_output(const struct request *q, char **paths, size_t n)
{
    struct recordingset all;
    int status = 0;

    recordingset_find(&all, paths, n, RECORDINGSET_ALL);
    for (size_t i = 0; i < all.n && !status; i++)
        status = check_trace(q, all.paths[i]);
    if (!status)
        status = all.n > 1 ? pack_into_one(q, all.paths, all.n, q->output)
                           : pack_one(q, all.paths[0], q->output);
    recordingset_release(&all);
    return status;
}

static int pack(const struct request *q, char **paths, size_t n)
{
    int status = 0;

    if (q->output) {
        status = pack_to_output(q, paths, n);
        if (!status && !q->quiet && is_readable(q->output))
            say(q->output, q->output);
        return status;
    }
    status = pack_in_place(q, paths, n);
    for (size_t i = 0; i < n && !status && !q->quiet; i++)
        say(paths[i], paths[i]);
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
