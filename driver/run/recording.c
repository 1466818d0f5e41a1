/*
 * recording.c: what the user could do with three commands, in one.
 *
 * The picture is made by render_main, the command, from a file of folded stacks, so that
 * `flame mem` can never show anything else than `flame render` shows of the same stacks.
 * That file is in memory: the disk of the traces may be full by now. The traces are read
 * once, for the summary and the stacks both.
 */
#define _GNU_SOURCE
#include "driver/run/recording.h"

#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/alloc.h"
#include "common/basename.h"
#include "common/commands.h"
#include "common/error.h"
#include "common/folded.h"
#include "common/outfile.h"
#include "common/procpath.h"
#include "common/strbuf.h"
#include "driver/watch/momentfile.h"
#include "fold/fold.h"
#include "fold/viewtable.h"
#include "render/backend.h"

/* Programs named in one line. */
#define NAMED 8

int recording_left_nothing(const struct recording *r, const struct run_options *o)
{
    const char *what = o->traces_waits ? "recording of memory" : "recording";
    struct strbuf who = STRBUF_INIT;
    int status;

    notrecorded_add(&who, &r->others, NAMED);
    if (who.len)
        status = flame_error(FLAME_FAILED, "%s: left no %s: %s", o->subject, what, who.buf);
    else
        status = flame_error(FLAME_FAILED,
                             "%s: left no %s: the recorder could not start in it, or the command "
                             "removed it",
                             o->subject, what);
    strbuf_release(&who);
    return status;
}

/* What the intake has left, or all. */
static int take_rest(struct recording *r, const struct run_options *o)
{
    struct trace *t;
    int status;

    for (size_t i = 0; r->taken.options.tree && i < r->rundir.ntraces; i++)
        proctree_add_file(r->taken.options.tree, r->rundir.traces[i]);
    for (size_t i = 0; i < r->rundir.ntraces; i++) {
        status = trace_load(r->rundir.traces[i], &t);
        if (status)
            return status;
        taken_add(&r->taken, t, false);
    }
    if (o->traces_waits) {
        status = trace_load(r->rundir.waits, &t);
        if (status)
            return status;
        taken_add(&r->waits.taken, t, false);
    }
    r->traces = tracesums_get(r->taken.sums, &r->ntraces);
    r->waits.traces = tracesums_get(r->waits.taken.sums, &r->waits.ntraces);
    return r->taken.nprocesses || o->traces_waits ? 0 : recording_left_nothing(r, o);
}

int recording_write_text(const struct strbuf *text, const char *to)
{
    struct outfile out;
    int err = outfile_open(&out, to);

    if (!err) {
        fwrite(text->buf, 1, text->len, out.f);
        err = outfile_commit(&out);
    }
    if (err)
        flame_cannot_write(to, err);
    return err ? FLAME_FAILED : 0;
}

struct fold_options recording_fold_options(const struct run_options *o)
{
    return (struct fold_options){.view = o->view,
                                 .pid = o->pid,
                                 .tid = o->tid,
                                 .ancestors = o->ancestors,
                                 .own = true,
                                 .ages = o->ages};
}

/* All views of all that was recorded, those of memory first. */
static int fold_all(const struct recording *r, const struct fold_options *opt,
                    struct strbuf *folded)
{
    int status = r->ntraces ? fold_loaded(opt, r->traces, r->ntraces, folded) : 0;

    if (!status && r->waits.ntraces)
        status = fold_loaded(opt, r->waits.traces, r->waits.ntraces, folded);
    return status;
}

/* What was taken in while the command ran is in no file any more. Its text in the run's
 * directory; false when there is none, or it cannot be written either. */
static bool keep_sums(const struct recording *r)
{
    struct fold_options opt = r->taken.options;
    struct strbuf all = STRBUF_INIT, to = STRBUF_INIT;
    bool kept = false;

    opt.all_views = true;
    opt.moments = r->moments != NULL;
    if (r->ntraces && fold_all(r, &opt, &all) == 0) {
        strbuf_addf(&to, "%s/" RUNDIR_FOLDED, r->rundir.path);
        kept = recording_write_text(&all, to.buf) == 0;
    }
    strbuf_release(&all);
    strbuf_release(&to);
    return kept;
}

static bool has_traces(const struct recording *r)
{
    return r->rundir.ntraces || r->waits.taken.nprocesses;
}

/* A run may have taken hours: what it left is not thrown away for a full disk. */
static void keep(struct recording *r, bool memory)
{
    bool taken_in = r->taken.nprocesses && r->taken.process[0].ended;
    const char *what = taken_in ? RUNDIR_FOLDED : "FILE.flame";

    if (!r->rundir.path || (taken_in ? !memory || !keep_sums(r) : !has_traces(r)))
        return;
    rundir_keep(&r->rundir);
    flame_warn("the recording is kept in %s; 'flame render %s' draws it, remove it afterwards",
               r->rundir.path, what);
}

/* The run has ended: processes that go on are not recorded any further. */
static void end_notes(struct recording *r)
{
    notrecorded_over(r->rundir.notes);
    notrecorded_read(&r->others, r->rundir.notes);
}

static struct recording *current;

static int end_without_memory(void)
{
    int own;

    if (!current)
        return FLAME_FAILED;
    own = launch_exit_status(current->run.wait_status);
    keep(current, false);
    launch_die_alike(current->run.wait_status);
    return own ? own : FLAME_FAILED;
}

static void release(struct recording *r)
{
    taken_release(&r->taken);
    taken_release(&r->waits.taken);
    current = NULL;
    notrecorded_release(&r->others);
    watch_free(r->watch);
    growthwatch_free(r->growth);
    momentwatch_free(r->moments);
    rundir_close(&r->rundir);
}

int recording_run(const struct run_options *o, recording_maker *record,
                  int (*then)(const struct recording *r, const struct run_options *o))
{
    struct fold_options options;
    struct recording r = {0};
    int own, wait_status, status;

    options = recording_fold_options(o);
    taken_init(&r.taken, &options);
    options.ancestors = false;
    options.ancestors = false;
    taken_init(&r.waits.taken, &options);
    status = record(&r, o);
    if (status) {
        release(&r);
        return status;
    }
    current = &r;
    alloc_out_of_memory = end_without_memory;
    wait_status = r.run.wait_status;
    own = launch_exit_status(wait_status);
    end_notes(&r);
    status = rundir_collect(&r.rundir);
    if (!status)
        status = take_rest(&r, o);
    if (!status)
        status = then(&r, o);
    if (status == FLAME_FAILED)
        keep(&r, true);
    release(&r);
    launch_die_alike(wait_status);
    return own ? own : status;
}

int recording_fold(const struct recording *r, const struct run_options *o, bool own, bool lines,
                   struct strbuf *folded)
{
    struct fold_options opt = recording_fold_options(o);

    opt.own = own;
    opt.no_hint = o->quiet || lines != recording_wants_lines(o);
    opt.symbols.lines = lines;
    return fold_loaded(&opt, r->traces, r->ntraces, folded);
}

/* Copies `size` bytes from `at` of a file on. 0 or -errno. */
static int copy_bytes(int fd, uint64_t at, uint64_t size, FILE *to)
{
    char buf[8192]; /* the command's limit of the stack is flame's */
    ssize_t n = 0;

    while (size && (n = pread(fd, buf, size < sizeof buf ? size : sizeof buf, (off_t)at)) > 0) {
        size -= (uint64_t)n;
        at += (uint64_t)n;
        if (fwrite(buf, 1, (size_t)n, to) != (size_t)n)
            return 0; /* the file's end says why */
    }
    return n < 0 ? -errno : 0;
}

/* Where the segments of a trace end that are in use, by its header, and how many of them are of
 * metadata. */
static uint64_t end_of_trace(int fd, const struct trace_header *h, uint32_t *metas)
{
    uint64_t at = sizeof *h, end = (uint64_t)h->units * TRACE_UNIT;
    struct trace_segment s;

    *metas = 0;
    while (at < end && pread(fd, &s, sizeof s, (off_t)at) == (ssize_t)sizeof s &&
           s.magic == TRACE_SEGMENT_MAGIC && s.units) {
        *metas += s.type == TRACE_SEG_META;
        at += (uint64_t)s.units * TRACE_UNIT;
    }
    return at < end ? at : end;
}

/* A trace, and behind it the moments that stand beside it; whole or not at all. 0 or -errno. */
static int copy_trace(int fd, const struct strbuf *moments, uint64_t end, struct trace_header h,
                      const char *to)
{
    struct outfile out;
    int err = outfile_open(&out, to);

    if (err)
        return err;
    h.units = (uint32_t)((end + moments->len) / TRACE_UNIT);
    fwrite(&h, 1, sizeof h, out.f);
    err = copy_bytes(fd, sizeof h, end - sizeof h, out.f);
    fwrite(moments->buf, 1, moments->len, out.f);
    if (!err)
        return outfile_commit(&out);
    outfile_abort(&out);
    return err;
}

/* What is in use of a trace; a hole lies behind that. */
static int copy_or_say(const char *from, const char *to)
{
    struct strbuf moments = STRBUF_INIT;
    struct trace_header h;
    int fd = open(from, O_RDONLY | O_CLOEXEC), err = fd < 0 ? -errno : 0, status = 0;
    uint32_t metas;
    uint64_t end;

    if (!err && pread(fd, &h, sizeof h, 0) != (ssize_t)sizeof h)
        err = -EIO;
    if (!err) {
        end = end_of_trace(fd, &h, &metas);
        status = momentfile_segments(&moments, from, metas);
    }
    if (!err && !status)
        err = copy_trace(fd, &moments, end, h, to);
    if (fd >= 0)
        close(fd);
    strbuf_release(&moments);
    if (err)
        flame_cannot_write(to, err);
    return err ? FLAME_FAILED : status;
}

/* `output` with something before its ending, which is that of a trace. */
static char *name_beside(const char *output, const char *what)
{
    size_t len = strlen(output) - strlen(".flame");
    struct strbuf name = STRBUF_INIT;

    strbuf_add(&name, output, len);
    strbuf_addf(&name, "%s.flame", what);
    return strbuf_detach(&name, NULL);
}

char *recording_trace_name(const char *output, size_t i)
{
    char number[24] = "";

    if (i)
        snprintf(number, sizeof number, ".%zu", i + 1);
    return name_beside(output, number);
}

char *recording_waits_name(const char *output)
{
    return name_beside(output, ".off");
}

/* `to` is the function's to free. */
static int keep_trace(const char *from, char *to)
{
    int status = copy_or_say(from, to);

    free(to);
    return status;
}

static void remove_file(const char *path)
{
    struct stat st;

    if (lstat(path, &st) == 0 && S_ISREG(st.st_mode))
        unlink(path);
}

static int keep_traces(const struct recording *r, const struct run_options *o)
{
    int status = 0;

    if (!r->rundir.ntraces && o->records_memory)
        remove_file(o->output); /* an older one would be taken for this run's */
    for (size_t i = 0; i < r->rundir.ntraces && !status; i++)
        status = keep_trace(r->rundir.traces[i], recording_trace_name(o->output, i));
    if (!status && o->traces_waits)
        status = keep_trace(r->rundir.waits, o->records_memory ? recording_waits_name(o->output)
                                                               : xstrdup(o->output));
    return status;
}

static bool has_stacks(const struct strbuf *folded)
{
    struct folded_line parsed;
    const char *end = folded->buf + folded->len;

    for (const char *s = folded->buf, *next; s < end; s = next + 1) {
        next = memchr(s, '\n', (size_t)(end - s));
        if (!next)
            next = end;
        if (folded_parse_line(s, (size_t)(next - s), &parsed) == 1)
            return true;
    }
    return false;
}

static bool write_all(int fd, const struct strbuf *text)
{
    size_t at = 0;

    while (at < text->len) {
        ssize_t n = write(fd, text->buf + at, text->len - at);

        if (n < 0 && errno != EINTR)
            return false;
        at += n < 0 ? 0 : (size_t)n;
    }
    return true;
}

/* A file of the text that needs no room on a disk, or one in the directory of the run: its
 * name in *name. A descriptor to close, -1: none; -2 after a line. */
static int lend_file(const struct recording *r, const struct strbuf *text, struct strbuf *name)
{
    int fd = memfd_create("folded", MFD_CLOEXEC);

    strbuf_addstr(name, proc_path_of(PROC_SELF, "fd", fd).s);
    if (fd >= 0 && access(name->buf, R_OK) == 0 && write_all(fd, text))
        return fd;
    if (fd >= 0)
        close(fd);
    strbuf_clear(name);
    strbuf_addf(name, "%s/" RUNDIR_FOLDED, r->rundir.path);
    return recording_write_text(text, name->buf) == 0 ? -1 : -2;
}

/* As the user would: folded text in a file, `flame render --view VIEW -o OUTPUT FILE`. */
static int draw(const struct recording *r, const struct strbuf *folded, const struct run_options *o)
{
    struct strbuf subtitle = STRBUF_INIT, from = STRBUF_INIT;
    char name[] = "render", opt_out[] = "-o", opt_subtitle[] = "--subtitle", opt_view[] = "--view";
    char *to = xstrdup(o->output), *view = xstrdup(o->view);
    int status, fd;

    strbuf_addstr(&subtitle, base_name(o->subject));
    fd = lend_file(r, folded, &from);
    status = fd == -2 ? FLAME_FAILED : 0;
    if (!status) {
        char *argv[] = {name,         opt_out,      to,       opt_view, view,
                        opt_subtitle, subtitle.buf, from.buf, NULL};

        optind = 0;
        status = render_main(ARRAY_LEN(argv) - 1, argv);
    }
    if (fd >= 0)
        close(fd);
    strbuf_release(&subtitle);
    strbuf_release(&from);
    free(to);
    free(view);
    return status;
}

bool recording_wants_all(const struct run_options *o)
{
    const struct render_backend *b;

    if (o->kind != RUN_OUTPUT_PICTURE)
        return false;
    b = backend_for_file(o->output);
    /* A page shows all whatever was asked for, an export what was. */
    return b->explores || (b->all_views && (strcmp(o->view, mem_views[0].name) == 0 ||
                                            strcmp(o->view, off_views[0].name) == 0));
}

bool recording_wants_lines(const struct run_options *o)
{
    return o->kind == RUN_OUTPUT_PICTURE && backend_for_file(o->output)->lines;
}

int recording_put(const struct recording *r, const struct run_options *o,
                  const struct strbuf *folded, bool *empty)
{
    *empty = false;
    switch (o->kind) {
    case RUN_OUTPUT_TRACE:
        return keep_traces(r, o);
    case RUN_OUTPUT_FOLDED:
        return recording_write_text(folded, o->output);
    default:
        *empty = !has_stacks(folded);
        if (!*empty)
            return draw(r, folded, o);
        /* An older picture of that name would be taken for this run's. */
        remove_file(o->output);
        return 0;
    }
}

int recording_write(const struct recording *r, const struct run_options *o,
                    const struct strbuf *folded, bool *empty)
{
    struct fold_options opt = recording_fold_options(o);
    struct strbuf all = STRBUF_INIT;
    int status;

    if (!recording_wants_all(o))
        return recording_put(r, o, folded, empty);
    *empty = false;
    opt.all_views = true;
    opt.moments = o->moments;
    opt.no_hint = true;
    opt.symbols.lines = recording_wants_lines(o);
    status = fold_loaded(&opt, r->traces, r->ntraces, &all);
    if (!status)
        status = recording_put(r, o, &all, empty);
    strbuf_release(&all);
    return status;
}
