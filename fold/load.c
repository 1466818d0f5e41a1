/*
 * Loading folded text and traces side by side.
 *
 * A "# flame:" line has the meaning of the counts (bytes live, calls...). Sums of different
 * things mean nothing, so files with different lines are an error; a file without one, as other
 * tools write it, goes with any.
 */
#include "fold/load.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/error.h"
#include "common/files/trace_file.h"
#include "common/trace/trace_reader.h"
#include "fold/analysis/recordingset.h"
#include "fold/collapse/readers.h"
#include "fold/stacks/wrong_input.h"
#include "fold/viewtable.h"

static const struct collapse_options plain;

void load_init(struct load *l, const char *command, const struct fold_options *fold)
{
    *l = (struct load){.command = command, .fold = fold, .column = -1};
    l->stacks = stackset_new();
    l->meta = (struct strbuf)STRBUF_INIT;
}

void load_release(struct load *l)
{
    tracesums_free(l->traces);
    trace_parts_release(&l->parts);
    strbuf_release(&l->meta);
    missing_symbols_release(&l->lost[0]);
    missing_symbols_release(&l->lost[1]);
    spill_release(&l->spill);
    stackset_free(l->stacks);
}

static int check(struct load *l, const struct collapse *c)
{
    if (c->in.error)
        return textinput_cannot_read(&c->in);
    if (l->spill.status)
        return l->spill.status;
    if (c->meta_differs)
        return flame_error(
            FLAME_USAGE, "%s: its counts are of another kind than those before (%s); %s them apart",
            c->in.name, l->meta.buf, l->command);
    if (folded_refuse_foreign(c->in.name, c->samples, c->unknown, c->unknown_line,
                              c->unknown_text.buf))
        return FLAME_USAGE;
    folded_columns_say(&c->columns, c->in.name);
    if (c->unknown)
        flame_warn("%s: %" PRIu64 " line%s not understood and left out, the first is line %" PRIu64
                   ": %s",
                   c->in.name, c->unknown, c->unknown == 1 ? " was" : "s were", c->unknown_line,
                   c->unknown_text.buf);
    return FLAME_OK;
}

static int read_text(struct load *l, struct collapse *c)
{
    c->column = l->column;
    c->meta = &l->meta;
    c->left_out = l->left_out;
    c->lost = &l->lost[l->column > 0];
    c->spill = &l->spill;
    collapse_folded_run(c);
    l->stacks = c->stacks;
    l->modules[l->column > 0] |= c->modules;
    return check(l, c);
}

/* Reports that a trace which was not read by its path is the first of several. */
static void say_several(const struct textinput *in, const struct trace *t)
{
    if (t->header.traces > 1)
        flame_warn("%s: has %" PRIu32 " traces, and only the first is read; all of them are read "
                   "from a file",
                   in->name, t->header.traces);
}

/* Whether the input is a file as it is, of which the beginning alone was read: it is at its
 * beginning again then. trace_load reads the part of it that is in use, and reads it anew if it was
 * written meanwhile. */
static bool is_file(const struct textinput *in)
{
    off_t peeked = (off_t)(in->end - in->pos);
    struct stat st;

    if (in->is_part)
        return true;
    if (in->codec || fstat(in->fd, &st) != 0 || !S_ISREG(st.st_mode))
        return false;
    return in->fd != STDIN_FILENO ||
           (lseek(in->fd, 0, SEEK_CUR) == peeked && lseek(in->fd, 0, SEEK_SET) == 0);
}

int load_trace(struct textinput *in, const char *path, struct trace **out)
{
    struct strbuf bytes = STRBUF_INIT;
    bool std = !path || strcmp(path, "-") == 0, file = is_file(in);
    int status;

    if (file)
        status = trace_load(std ? "-" : path, out);
    else if (!textinput_all(in, &bytes))
        status = textinput_cannot_read(in);
    else
        status = trace_load_bytes(in->name, bytes.buf, bytes.len, false, out);
    if (!status && (std || !file))
        say_several(in, *out);
    strbuf_release(&bytes);
    return status;
}

int load_one_trace(struct textinput *in, const char *path, bool several, struct trace **out)
{
    struct strbuf why = STRBUF_INIT;
    int status;

    if (!in->is_part || !several)
        return load_trace(in, path, out);
    status = trace_load_linked_or_why(path, &why, out);
    if (status == FLAME_USAGE) {
        flame_warn("%s: left out, as it cannot be read: %s", path, why.buf);
        status = FLAME_OK;
    }
    strbuf_release(&why);
    return status;
}

uint32_t load_recorder(const char *view, bool of_waits, bool of_memory)
{
    return view        ? view_find(view)->recorder
           : of_waits  ? TRACE_RECORDER_OFF
           : of_memory ? TRACE_RECORDER_MEM
                       : RECORDINGSET_FIRST;
}

bool load_is_trace(struct textinput *in)
{
    const char *text;
    size_t len = textinput_peek(in, &text, sizeof TRACE_MAGIC - 1);

    return in->is_part || trace_magic_matches(text, len);
}

int load_process(struct process_tree *tree, const char *path)
{
    struct trace *t = NULL;
    struct textinput in;
    struct stat st;
    int status = FLAME_OK, err;

    if (trace_file_is_part(path)) {
        process_tree_add_file(tree, path);
        return FLAME_OK;
    }
    if (strcmp(path, "-") == 0 || stat(path, &st) != 0 || !S_ISREG(st.st_mode))
        return FLAME_OK;
    err = textinput_open(&in, path);
    if (err)
        return trace_file_cannot_read(path, err);
    if (!load_is_trace(&in)) {
        ;
    } else if (!in.codec) {
        process_tree_add_file(tree, path);
    } else {
        status = load_trace(&in, path, &t);
        if (status == FLAME_OK)
            process_tree_add(tree, t);
        trace_free(t);
    }
    textinput_close(&in);
    return status;
}

static int add_trace(struct load *l, struct trace *t)
{
    if (!l->traces)
        l->traces = tracesums_new(l->fold);
    return tracesums_add(l->traces, t);
}

/* Parts of a recording are kept until all are there. */
static int keep_trace(struct load *l, struct collapse *c, const char *path)
{
    bool is_part = false, several = l->fold->when && l->fold->when->several;
    struct trace *t = NULL;
    int status = load_one_trace(&c->in, path, several, &t);

    if (status == FLAME_OK && !t) {
        l->unread++;
        return FLAME_OK;
    }
    if (status == FLAME_OK)
        status = trace_parts_take(&l->parts, t, &is_part);
    if (status != FLAME_OK)
        trace_free(t);
    else if (!is_part)
        status = add_trace(l, t);
    return status;
}

int load_parts(struct load *l)
{
    struct trace **joined;
    size_t n = trace_parts_join(&l->parts, &joined);
    int status = FLAME_OK;

    for (size_t i = 0; i < n; i++)
        if (status == FLAME_OK)
            status = add_trace(l, joined[i]);
        else
            trace_free(joined[i]);
    free(joined);
    if (status == FLAME_OK && l->unread && !l->traces && !l->texts)
        status = flame_error(FLAME_USAGE, "%s: no trace is left that can be read", l->command);
    return status == FLAME_OK ? fold_when_check(l->fold->when) : status;
}

int load_file(struct load *l, const char *path)
{
    struct collapse c;
    int err, status;

    collapse_init(&c, &plain, l->stacks);
    err = textinput_open(&c.in, path);
    if (err) {
        status = trace_file_cannot_read(path, err);
    } else if (load_is_trace(&c.in)) {
        status = keep_trace(l, &c, path);
    } else {
        l->texts++;
        status = wrong_input_refuse(&c.in);
        if (!status)
            status = collapse_refuse(&c.in);
        if (!status && l->fold->when && fold_when_given(l->fold->when))
            status = flame_error(
                FLAME_USAGE, "%s: --%s is of traces, and this is folded already; take the trace",
                c.in.name, l->fold->when->at.given ? "at" : "from");
        if (!status)
            status = read_text(l, &c);
    }
    collapse_release(&c);
    return status;
}

int load_traces(struct load *l)
{
    struct fold_options opt = *l->fold;
    struct strbuf text = STRBUF_INIT;
    struct trace *const *traces;
    struct collapse c;
    int status = load_parts(l);
    size_t n;

    if (status != FLAME_OK || !l->traces)
        return status;
    traces = tracesums_get(l->traces, &n);
    l->modules[l->column > 0] |= l->filter && l->filter->modules && !l->filter->by;
    opt.no_header = false; /* the header tells an empty view from an empty file */
    status = fold_loaded(&opt, traces, n, &text);
    if (status == FLAME_OK) {
        collapse_init(&c, &plain, l->stacks);
        textinput_memory(&c.in, traces[0]->path, &text);
        status = read_text(l, &c);
        collapse_release(&c);
    }
    strbuf_release(&text);
    tracesums_free(l->traces);
    l->traces = NULL;
    return status;
}

int load_filter(struct load *l, const char *command)
{
    if (!l->filter)
        return FLAME_OK;
    if (spill_settle(&l->spill, &l->stacks) != FLAME_OK)
        return l->spill.status;
    if (!l->spill.nruns)
        filter_stacks(l->filter, &l->stacks);
    for (size_t i = 0; i < 2; i++)
        stackset_count_add(&l->left_out[i], &l->filter->left_out[i]);
    return filter_check(l->filter, command);
}

int load_write(struct load *l, const char *path)
{
    const struct stackset_heading heading = {
        .meta = l->meta.buf,
        .left_out = l->fold->no_header ? NULL : l->left_out,
        .lost = l->fold->no_header ? NULL : l->lost,
        .modules = !l->fold->no_header && (l->modules[0] || l->modules[1]),
    };

    if (l->spill.nruns)
        return spill_write_file(&l->spill, &heading, BY_LINE, path);
    return stackset_write_file(l->stacks, &heading, BY_LINE, path);
}
