/*
 * recording.c: what the user could do with three commands, in one.
 *
 * The picture is made by render_main, the command, from a file of folded stacks
 * in the session's directory, so that `flame mem` can never show anything else
 * than `flame render` shows of the same stacks. The traces are read once, for the
 * summary and the stacks both.
 */
#include "driver/recording.h"

#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/commands.h"
#include "common/error.h"
#include "common/folded.h"
#include "common/outfile.h"
#include "common/strbuf.h"
#include "fold/fold.h"
#include "fold/viewtable.h"
#include "render/backend.h"

static int load(struct recording *r, const char *subject)
{
    r->traces = xcalloc(r->session.ntraces, sizeof(struct trace *));
    for (size_t i = 0; i < r->session.ntraces; i++) {
        int status = trace_load(r->session.traces[i], &r->traces[i]);

        if (status)
            return status;
    }
    if (r->session.ntraces)
        return 0;
    return flame_error(FLAME_FAILED,
                       "%s: left no recording: the recorder could not start in it, or the command "
                       "removed it",
                       subject);
}

/* A run may have taken hours: what it left is not thrown away for a full disk. */
static void keep(struct recording *r)
{
    if (!r->session.dir || !r->session.ntraces)
        return;
    r->session.keep = true;
    flame_warn("the recording is kept in %s; 'flame render FILE.flame' draws it, remove it "
               "afterwards",
               r->session.dir);
}

static struct recording *current;

static int end_without_memory(void)
{
    int own;

    if (!current)
        return FLAME_FAILED;
    own = launch_exit_status(current->run.wait_status);
    keep(current);
    launch_die_alike(current->run.wait_status);
    return own ? own : FLAME_FAILED;
}

static void release(struct recording *r)
{
    for (size_t i = 0; r->traces && i < r->session.ntraces; i++)
        if (r->traces[i])
            trace_free(r->traces[i]);
    free(r->traces);
    r->traces = NULL;
    current = NULL;
    session_close(&r->session);
}

int recording_run(const struct run_options *o, recording_maker *record,
                  int (*then)(const struct recording *r, const struct run_options *o))
{
    struct recording r = {0};
    int own, wait_status, status = record(&r, o);

    if (status) {
        release(&r);
        return status;
    }
    current = &r;
    strbuf_out_of_memory = end_without_memory;
    wait_status = r.run.wait_status;
    own = launch_exit_status(wait_status);
    status = session_collect(&r.session);
    if (!status)
        status = load(&r, o->subject);
    if (!status)
        status = then(&r, o);
    if (status == FLAME_FAILED)
        keep(&r);
    release(&r);
    launch_die_alike(wait_status);
    return own ? own : status;
}

int recording_fold(const struct recording *r, const struct run_options *o, bool own,
                   struct strbuf *folded)
{
    struct fold_options opt = {
        .view = o->view, .own = own, .symbols.lines = recording_wants_lines(o)};

    return fold_loaded(&opt, r->traces, r->session.ntraces, folded);
}

/* Copies into place whole or not at all. 0 or -errno. */
static int copy_file(const char *from, const char *to)
{
    struct outfile out;
    char buf[65536];
    ssize_t n;
    int fd, err;

    fd = open(from, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return -errno;
    err = outfile_open(&out, to);
    if (err) {
        close(fd);
        return err;
    }
    while ((n = read(fd, buf, sizeof buf)) > 0)
        if (fwrite(buf, 1, (size_t)n, out.f) != (size_t)n)
            break;
    err = n < 0 ? -errno : 0;
    close(fd);
    if (!err)
        return outfile_commit(&out);
    outfile_abort(&out);
    return err;
}

static int copy_or_say(const char *from, const char *to)
{
    int err = copy_file(from, to);

    if (!err)
        return 0;
    return flame_error(FLAME_FAILED, "%s: cannot be written: %s", to, strerror(-err));
}

char *recording_trace_name(const char *output, size_t i)
{
    size_t len = strlen(output) - strlen(".flame");
    struct strbuf name = STRBUF_INIT;

    strbuf_add(&name, output, len);
    if (i)
        strbuf_addf(&name, ".%zu", i + 1);
    strbuf_addstr(&name, ".flame");
    return strbuf_detach(&name, NULL);
}

static int keep_traces(const struct recording *r, const char *output)
{
    for (size_t i = 0; i < r->session.ntraces; i++) {
        char *to = recording_trace_name(output, i);
        int status = copy_or_say(r->session.traces[i], to);

        free(to);
        if (status)
            return status;
    }
    return 0;
}

static int write_text(const struct strbuf *text, const char *to)
{
    struct outfile out;
    int err = outfile_open(&out, to);

    if (!err) {
        fwrite(text->buf, 1, text->len, out.f);
        err = outfile_commit(&out);
    }
    if (!err)
        return 0;
    return flame_error(FLAME_FAILED, "%s: cannot be written: %s", to, strerror(-err));
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

static void remove_file(const char *path)
{
    struct stat st;

    if (lstat(path, &st) == 0 && S_ISREG(st.st_mode))
        unlink(path);
}

/* As the user would: folded text in a file, `flame render --view VIEW -o OUTPUT FILE`. */
static int draw(const struct recording *r, const struct strbuf *folded, const struct run_options *o)
{
    const char *slash = strrchr(o->subject, '/');
    struct strbuf subtitle = STRBUF_INIT, from = STRBUF_INIT;
    char name[] = "render", opt_out[] = "-o", opt_subtitle[] = "--subtitle", opt_view[] = "--view";
    char *to = xstrdup(o->output), *view = xstrdup(o->view);
    int status;

    strbuf_addstr(&subtitle, slash ? slash + 1 : o->subject);
    strbuf_addf(&from, "%s/folded", r->session.dir);
    status = write_text(folded, from.buf);
    if (!status) {
        char *argv[] = {name,         opt_out,      to,       opt_view, view,
                        opt_subtitle, subtitle.buf, from.buf, NULL};

        optind = 0;
        status = render_main(ARRAY_LEN(argv) - 1, argv);
    }
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
        return keep_traces(r, o->output);
    case RUN_OUTPUT_FOLDED:
        return write_text(folded, o->output);
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
    struct fold_options opt = {.all_views = true, .own = true};
    struct strbuf all = STRBUF_INIT;
    int status;

    if (!recording_wants_all(o))
        return recording_put(r, o, folded, empty);
    *empty = false;
    opt.symbols.lines = recording_wants_lines(o);
    status = fold_loaded(&opt, r->traces, r->session.ntraces, &all);
    if (!status)
        status = recording_put(r, o, &all, empty);
    strbuf_release(&all);
    return status;
}
