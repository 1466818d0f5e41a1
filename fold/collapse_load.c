/*
 * Loading folded text and traces side by side.
 *
 * A "# flame:" line says what the counts are (bytes live, calls...). Sums of
 * different things mean nothing, so files that say different things are an
 * error; a file that says nothing, as other tools write it, goes with any.
 */
#include "fold/collapse_load.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "common/error.h"
#include "common/trace_reader.h"
#include "fold/collapse_readers.h"

static const struct collapse_options plain;

void collapse_load_init(struct collapse_load *l, const char *command,
                        const struct fold_options *fold)
{
    *l = (struct collapse_load){.command = command, .fold = fold, .column = -1};
    l->stacks = collapse_stacks_new();
    l->meta = (struct strbuf)STRBUF_INIT;
}

static void free_traces(struct collapse_load *l)
{
    for (size_t i = 0; i < l->ntraces; i++)
        trace_free(l->traces[i]);
    l->ntraces = 0;
}

void collapse_load_release(struct collapse_load *l)
{
    free_traces(l);
    free(l->traces);
    strbuf_release(&l->meta);
    collapse_stacks_free(l->stacks);
}

static int check(struct collapse_load *l, const struct collapse *c)
{
    if (c->in.error)
        return flame_error(FLAME_USAGE, "%s: cannot read: %s", c->in.name, c->in.error);
    if (c->meta_differs)
        return flame_error(FLAME_USAGE,
                           "%s: its counts are not what those before are (%s); %s them apart",
                           c->in.name, l->meta.buf, l->command);
    if (c->samples == 0 && (c->unknown || (l->meta.len == 0 && !c->has_left_out)))
        return flame_error(FLAME_USAGE,
                           "%s: neither a trace nor folded stacks, which are lines like "
                           "'main;read 42'",
                           c->in.name);
    if (c->unknown)
        flame_warn("%s: %" PRIu64 " line%s not understood and left out, the first is line %" PRIu64
                   ": %s",
                   c->in.name, c->unknown, c->unknown == 1 ? " was" : "s were", c->unknown_line,
                   c->unknown_text.buf);
    return FLAME_OK;
}

static int read_text(struct collapse_load *l, struct collapse *c)
{
    c->column = l->column;
    c->meta = &l->meta;
    c->left_out = l->left_out;
    collapse_folded_run(c);
    return check(l, c);
}

static int read_trace(struct collapse_load *l, struct collapse *c, const char *path)
{
    struct strbuf bytes = STRBUF_INIT;
    struct trace *t = NULL;
    int status;

    if (path && strcmp(path, "-") != 0 && !c->in.codec)
        status = trace_load(path, &t);
    else if (!collapse_input_all(&c->in, &bytes))
        status = flame_error(FLAME_USAGE, "%s: cannot read: %s", c->in.name, c->in.error);
    else
        status = trace_load_bytes(c->in.name, bytes.buf, bytes.len, false, &t);
    strbuf_release(&bytes);
    if (status == FLAME_OK) {
        l->traces = xreallocarray(l->traces, l->ntraces + 1, sizeof *l->traces);
        l->traces[l->ntraces++] = t;
    }
    return status;
}

int collapse_load_file(struct collapse_load *l, const char *path)
{
    struct collapse c;
    const char *text;
    size_t len;
    int err, status;

    collapse_init(&c, &plain, l->stacks);
    err = collapse_input_open(&c.in, path);
    if (err) {
        status = flame_error(FLAME_USAGE, "%s: cannot open: %s", path, strerror(-err));
    } else {
        len = collapse_input_peek(&c.in, &text, sizeof TRACE_MAGIC - 1);
        if (trace_magic_matches(text, len)) {
            status = read_trace(l, &c, path);
        } else {
            l->texts++;
            status = read_text(l, &c);
        }
    }
    collapse_release(&c);
    return status;
}

int collapse_load_traces(struct collapse_load *l)
{
    struct fold_options opt = *l->fold;
    struct strbuf text = STRBUF_INIT;
    struct collapse c;
    int status;

    if (l->ntraces == 0)
        return FLAME_OK;
    opt.no_header = false; /* what tells an empty view from what is no text at all */
    status = fold_loaded(&opt, l->traces, l->ntraces, &text);
    if (status == FLAME_OK) {
        collapse_init(&c, &plain, l->stacks);
        collapse_input_memory(&c.in, l->traces[0]->path, text.buf, text.len);
        status = read_text(l, &c);
        collapse_release(&c);
    }
    strbuf_release(&text);
    free_traces(l);
    return status;
}

int collapse_load_filter(struct collapse_load *l, const char *command)
{
    if (!l->filter)
        return FLAME_OK;
    filter_stacks(l->filter, &l->stacks);
    for (size_t i = 0; i < 2; i++)
        collapse_count_add(&l->left_out[i], &l->filter->left_out[i]);
    return filter_check(l->filter, command);
}

int collapse_load_write(struct collapse_load *l, const char *path)
{
    const struct collapse_heading heading = {
        .meta = l->meta.buf,
        .left_out = l->fold->no_header ? NULL : l->left_out,
    };

    return collapse_write_file(l->stacks, &heading, BY_LINE, path);
}
