/*
 * recording.c: one command for three: it records, folds and renders.
 *
 * The picture is made by render_main, the command, from a file of folded stacks, so that `flame
 * mem` always shows the same picture as `flame render` of the same stacks. That file is in memory,
 * as the disk of the traces may be full by now. The traces are read once, for both the summary and
 * the stacks.
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
#include "common/files/outfile.h"
#include "common/procpath.h"
#include "common/strbuf.h"
#include "common/trace/trace_reader.h"
#include "driver/kept/ended_trace.h"
#include "driver/run/runtimes.h"
#include "fold/fold.h"
#include "fold/stacks/place.h"
#include "fold/viewtable.h"
#include "render/backend.h"
#include "render/findings/sentences.h"

#define SENTENCES 3 /* at the end of a run, at most */

/* Programs named in one line. */
#define NAMED 8

int recording_left_nothing(const struct recording *r, const struct run_options *o)
{
    const char *what = o->traces_waits ? "recording of memory" : "recording";
    struct strbuf who = STRBUF_INIT;
    int status;

    unrecorded_add(&who, &r->others, NAMED);
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

/* Reads a trace of the run's directory. A trace that cannot be read goes to r->unread, which
 * takes over the path, and *path becomes NULL. 0, or FLAME_FAILED after a line. */
static int take_one(struct recording *r, char **path)
{
    struct strbuf why = STRBUF_INIT;
    struct trace *t;
    int status;

    ended_trace_keepers(*path);
    status = trace_load_or_why(*path, &why, &t);
    if (!status) {
        run_totals_add(&r->taken, t, false);
    } else if (status == FLAME_USAGE) {
        unreadable_traces_add(&r->unread, *path, why.buf);
        *path = NULL;
        status = 0;
    }
    strbuf_release(&why);
    return status;
}

static int take_all(struct recording *r)
{
    struct rundir *dir = &r->rundir;
    size_t n = 0, i;
    int status = 0;

    for (i = 0; i < dir->ntraces && !status; i++) {
        char *path = dir->traces[i];

        status = take_one(r, &path);
        if (path)
            dir->traces[n++] = path;
    }
    memmove(dir->traces + n, dir->traces + i, (dir->ntraces - i) * sizeof *dir->traces);
    dir->ntraces = n + dir->ntraces - i;
    unreadable_traces_print(&r->unread, dir, &r->others);
    return status;
}

static void print_unread_waits(struct recording *r, const struct run_options *o, const char *why)
{
    const char *lost = o->records_memory ? "the waits are left out, as their trace cannot be read"
                                         : "left no recording: its trace cannot be read";

    if (rundir_keep_file(&r->rundir, r->rundir.waits))
        flame_warn("%s: %s: %s; it is kept as %s, remove it afterwards", o->subject, lost, why,
                   r->rundir.waits);
    else
        flame_warn("%s: %s: %s", o->subject, lost, why);
}

/* Reads the trace of waits: one for all processes, which the tracer writes. One that cannot be read
 * is reported, and skipped if memory was recorded, too. 0, or FLAME_FAILED after a line. */
static int take_waits(struct recording *r, const struct run_options *o)
{
    struct strbuf why = STRBUF_INIT;
    struct trace *t;
    int status = trace_load_or_why(r->rundir.waits, &why, &t);

    if (!status) {
        run_totals_add(&r->waits.taken, t, false);
        if (r->waits.cut)
            flame_warn("%s: the trace of waiting was cut short while it was written: what comes "
                       "after that is missing",
                       o->subject);
    } else if (status == FLAME_USAGE) {
        print_unread_waits(r, o, r->waits.cut ? "it was cut short while it was written" : why.buf);
        status = o->records_memory ? 0 : FLAME_FAILED;
    }
    strbuf_release(&why);
    return status;
}

/* Reads the traces that were not ingested while the command ran; without trace_ingest, all of
 * them. */
static int take_rest(struct recording *r, const struct run_options *o)
{
    int status;

    if (o->kept && o->snapshots)
        ended_trace_keepers_in(o->snapshots);
    for (size_t i = 0; r->taken.options.tree && i < r->rundir.ntraces; i++)
        process_tree_add_file(r->taken.options.tree, r->rundir.traces[i]);
    status = take_all(r);
    if (status)
        return status;
    if (o->traces_waits)
        status = take_waits(r, o);
    if (status)
        return status;
    r->traces = tracesums_get(r->taken.sums, &r->ntraces);
    r->waits.traces = tracesums_get(r->waits.taken.sums, &r->waits.ntraces);
    return r->taken.nprocesses || r->waits.taken.nprocesses ? 0 : recording_left_nothing(r, o);
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

/* Folds all views of all recorded traces, those of memory first. */
static int fold_all(const struct recording *r, const struct fold_options *opt,
                    struct strbuf *folded)
{
    int status = r->ntraces ? fold_loaded(opt, r->traces, r->ntraces, folded) : 0;

    if (!status && r->waits.ntraces)
        status = fold_loaded(opt, r->waits.traces, r->waits.ntraces, folded);
    return status;
}

/* Writes the folded text of all sums into the run's directory. The files of traces that were
 * ingested while the command ran are gone. False: there are no sums, or the text cannot be written
 * either. */
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

/* Keeps the traces if the output cannot be written (on a full disk, for example) or does not have
 * the view that was asked for, as the run may have taken hours. */
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

/* A processor needs longer than that to begin a process. */
#define LEAST_NS 10000u

/* Ends the recording of processes that still run. */
static void end_notes(struct recording *r)
{
    uint64_t most = r->run.elapsed_ns / LEAST_NS * (uint64_t)sysconf(_SC_NPROCESSORS_CONF);

    unrecorded_read(&r->others, &r->rundir.notes, RUN_STATUS_MAX + most);
    run_status_file_over(&r->rundir.notes);
    if (r->others.overwritten)
        flame_warn("a program or another process has written into the memory that flame shares "
                   "with the programs it records (%s): processes may be missing",
                   r->others.overwritten);
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
    run_totals_release(&r->taken);
    run_totals_release(&r->waits.taken);
    current = NULL;
    unrecorded_release(&r->others);
    unreadable_traces_release(&r->unread);
    rss_sampler_free(r->watch);
    growthwatch_free(r->growth);
    momentwatch_free(r->moments);
    rundir_close(&r->rundir);
}

void recording_add_doubts(struct strbuf *sb, const struct recording *r)
{
    if (r->unread.damaged) {
        strbuf_addstr(sb, "traces cannot be read: ");
        unreadable_traces_add_names(sb, &r->unread);
    }
    if (r->others.overwritten)
        strbuf_addf(sb, "%sthe run's own records were overwritten: %s", sb->len ? "; " : "",
                    r->others.overwritten);
}

/* Reports doubts. 0, or FLAME_FAILED after a line: a test with unrecorded processes has not
 * passed. */
static int print_doubts(const struct recording *r, const struct run_options *o)
{
    struct strbuf doubts = STRBUF_INIT;
    int status = 0;

    recording_add_doubts(&doubts, r);
    if (doubts.len)
        status = flame_error(FLAME_FAILED, "%s: not every process could be checked: %s", o->me,
                             doubts.buf);
    strbuf_release(&doubts);
    return status;
}

int recording_run(const struct run_options *o, recording_maker *record,
                  int (*then)(const struct recording *r, const struct run_options *o))
{
    struct fold_options options;
    struct recording r = {0};
    int own, wait_status, status;

    r.attached.is = !o->command;
    if (o->jit_names && o->command)
        runtimes_ask_for_names();
    options = recording_fold_options(o);
    run_totals_init(&r.taken, &options);
    options.ancestors = false;
    run_totals_init(&r.waits.taken, &options);
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
    if (status == FLAME_FAILED || status == FLAME_USAGE)
        keep(&r, true);
    else if (!status && o->is_test)
        status = print_doubts(&r, o);
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
    opt.modules = recording_wants_modules(o);
    return fold_loaded(&opt, r->traces, r->ntraces, folded);
}

void recording_remove_older(const char *path)
{
    struct stat st;

    if (lstat(path, &st) == 0 && S_ISREG(st.st_mode))
        unlink(path);
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

/* Writes the text to a file in memory, or, if that fails, to one in the directory of the run; *name
 * is its name. Returns a descriptor to close, -1: none; -2 after a line. */
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

/* Draws as the command would: folded text in a file, `flame render --view VIEW -o OUTPUT FILE`.
 * Without --view a page begins with the view that its findings are about. */
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
        char *argv[] = {name,     opt_out,  to,   opt_subtitle, subtitle.buf,
                        from.buf, opt_view, view, NULL};
        int argc = ARRAY_LEN(argv) - 1;

        if (o->view_is_default && backend_for_file(o->output)->explores)
            argv[argc -= 2] = NULL;
        optind = 0;
        status = render_main(argc, argv);
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
    /* A page shows all views, also when one is selected. An export does so only for the default
     * view. */
    return b->explores || (b->all_views && (strcmp(o->view, mem_views[0].name) == 0 ||
                                            strcmp(o->view, off_views[0].name) == 0));
}

bool recording_wants_waits(const struct run_options *o)
{
    return o->kind == RUN_OUTPUT_PICTURE && backend_for_file(o->output)->waits &&
           strcmp(o->view, off_views[0].name) == 0;
}

bool recording_wants_lines(const struct run_options *o)
{
    return o->kind == RUN_OUTPUT_PICTURE && backend_for_file(o->output)->lines;
}

bool recording_wants_modules(const struct run_options *o)
{
    return o->kind == RUN_OUTPUT_PICTURE && backend_for_file(o->output)->modules;
}

/* Writes folded text without places in files, as other tools read it. */
static int put_text(const struct strbuf *folded, const char *to)
{
    struct strbuf plain = STRBUF_INIT;
    int status;

    if (!memchr(folded->buf, PLACE_MARK, folded->len))
        return recording_write_text(folded, to);
    strbuf_add(&plain, folded->buf, folded->len);
    place_strip_text(&plain);
    status = recording_write_text(&plain, to);
    strbuf_release(&plain);
    return status;
}

int recording_put(const struct recording *r, const struct run_options *o,
                  const struct strbuf *folded, bool *empty)
{
    *empty = false;
    switch (o->kind) {
    case RUN_OUTPUT_TRACE:
        return recording_keep_traces(r, o);
    case RUN_OUTPUT_FOLDED:
        return put_text(folded, o->output);
    default:
        *empty = !has_stacks(folded);
        if (!*empty)
            return draw(r, folded, o);
        /* An older picture of that name would be taken for this run's. */
        recording_remove_older(o->output);
        return 0;
    }
}

int recording_text(const struct recording *r, const struct run_options *o, struct strbuf *folded)
{
    struct fold_options opt = recording_fold_options(o);

    if (o->kind == RUN_OUTPUT_TRACE)
        return 0;
    if (!recording_wants_all(o))
        return recording_fold(r, o, true, recording_wants_lines(o), folded);
    opt.all_views = true;
    opt.moments = o->moments;
    opt.no_hint = true;
    opt.symbols.lines = recording_wants_lines(o);
    opt.modules = recording_wants_modules(o);
    return fold_loaded(&opt, r->traces, r->ntraces, folded);
}

void recording_print_findings(const struct recording *r, const struct run_options *o,
                              const struct strbuf *folded, const char *without)
{
    struct strbuf path = STRBUF_INIT, said = STRBUF_INIT;
    int fd;

    if (!has_stacks(folded))
        return;
    fd = lend_file(r, folded, &path);
    if (fd != -2)
        sentences_of(&said, path.buf, o->view, without, SENTENCES);
    if (fd >= 0)
        close(fd);
    for (char *s = said.buf, *end; s && (end = strchr(s, '\n')); s = end + 1)
        flame_warn("%.*s", (int)(end - s), s);
    strbuf_release(&path);
    strbuf_release(&said);
}
