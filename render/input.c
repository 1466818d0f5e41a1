/*
 * Reading: chunks of the file are cut into lines in place, so memory holds one
 * chunk (or the longest line) and the tree, not the text.
 *
 * Rejected: mmap. It cannot read pipes, a file that shrinks kills the reader
 * with SIGBUS, and resident pages of a large input count as its memory.
 */
#include "render/input.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/error.h"
#include "common/trace_reader.h"
#include "fold/filter_lines.h"
#include "fold/fold.h"

#define CHUNK (256u << 10)
#define COLUMNS_MAX 4096 /* a column takes eight bytes a frame */

/* One file being read. */
struct reader {
    struct input *in;
    const struct input_options *o;
    struct filter_lines *lines; /* NULL: no filter */
    const char *name;           /* for messages */
    uint32_t column;            /* that is counted in */
    bool timed;                 /* what follows is of this moment, unless it says another */
    double moment;
    uint64_t line, stacks, unknown, first_unknown;
};

/* Several texts may be put together; the first one's word counts. */
static void take_meta(const struct reader *r, char **where, const char *s, size_t len,
                      const char *key)
{
    const char *value;
    size_t n;

    if (!folded_find_meta(s, len, key, &value, &n))
        return;
    if (!*where)
        *where = xmemdup0(value, n);
    else if (strlen(*where) != n || memcmp(*where, value, n) != 0)
        flame_warn("%s:%" PRIu64 ": %s is %.*s here and %s before; sums of both mean little",
                   r->name, r->line, key, (int)(n < 40 ? n : 40), value, *where);
}

static bool says(const char *known, const char *s, size_t len, const char *key)
{
    const char *value;
    size_t n;

    return !known || !folded_find_meta(s, len, key, &value, &n) ||
           (strlen(known) == n && memcmp(known, value, n) == 0);
}

/* When what follows was counted, in seconds. */
static void take_time(struct reader *r, const char *s, size_t len)
{
    const char *value;
    char text[64], *end;
    size_t n, kept;
    double v;

    if (!folded_find_meta(s, len, "time", &value, &n))
        return;
    kept = n < sizeof text ? n : sizeof text - 1;
    memcpy(text, value, kept);
    text[kept] = '\0';
    v = strtod(text, &end);
    if (n == 0 || kept < n || *end || !isfinite(v)) {
        flame_warn("%s:%" PRIu64 ": time=%s is not a number of seconds and left aside", r->name,
                   r->line, text);
        return;
    }
    r->timed = true;
    r->moment = v;
}

/*
 * The column whose view, unit and moment do not contradict the line; a new one where
 * all do. 0, or an enum flame_exit after a line.
 */
static int use_column(struct reader *r, const char *s, size_t len)
{
    struct input *in = r->in;
    uint32_t i = 0;

    for (; i < in->ncolumns; i++) {
        const struct input_column *c = &in->columns[i];

        if (!c->used || (says(c->view, s, len, "view") && says(c->unit, s, len, "unit") &&
                         c->timed == r->timed && (!c->timed || c->time == r->moment)))
            break;
    }
    if (i == COLUMNS_MAX)
        return flame_error(FLAME_USAGE,
                           "%s:%" PRIu64 ": more than %d views and moments; take fewer", r->name,
                           r->line, COLUMNS_MAX);
    if (i == in->ncolumns) {
        in->columns = xreallocarray(in->columns, ++in->ncolumns, sizeof *in->columns);
        in->columns[i] = (struct input_column){0};
    }
    in->columns[i].timed = r->timed;
    in->columns[i].time = r->timed ? r->moment : 0;
    r->column = i;
    frametree_use_column(&in->tree, i);
    return 0;
}

static int take_heading(struct reader *r, const char *s, size_t len)
{
    struct input *in = r->in;
    const char *value;
    size_t n;
    int status = 0;

    if (!folded_find_meta(s, len, "view", &value, &n) &&
        !folded_find_meta(s, len, "unit", &value, &n) &&
        !folded_find_meta(s, len, "time", &value, &n))
        return 0;
    if (r->o->columns) {
        take_time(r, s, len);
        status = use_column(r, s, len);
        in->columns[r->column].used = true;
    }
    take_meta(r, &in->columns[r->column].view, s, len, "view");
    take_meta(r, &in->columns[r->column].unit, s, len, "unit");
    in->view = in->columns[0].view;
    in->unit = in->columns[0].unit;
    return status;
}

/* "12", or "12,34" of a comparison, where what is shown is the second. */
static void take_left_out(struct reader *r, const char *s, size_t len)
{
    const char *value, *comma;
    struct collapse_count count;
    size_t n;

    if (!folded_find_meta(s, len, FOLDED_LEFT_OUT, &value, &n))
        return;
    comma = memchr(value, ',', n);
    if (comma) {
        n -= (size_t)(comma + 1 - value);
        value = comma + 1;
    }
    if (collapse_count_parse(value, n, &count))
        r->in->columns[r->column].left_out += (double)collapse_count_number(&count);
}

static int too_many(struct reader *r)
{
    return flame_error(FLAME_FAILED,
                       "%s:%" PRIu64 ": more than 2^31 different frames; filter the input", r->name,
                       r->line);
}

/* A line that the filter kept. */
static int take_kept(void *opaque, const struct folded_line *line, unsigned column)
{
    struct input *in = opaque;

    frametree_use_column(&in->tree, column);
    return frametree_add(&in->tree, line);
}

static int take_stack(struct reader *r, const struct folded_line *line)
{
    bool kept;
    int err;

    r->stacks++;
    if (!r->lines)
        return frametree_add(&r->in->tree, line) < 0 ? too_many(r) : 0;
    err = filter_lines_add(r->lines, line, r->column, &kept);
    if (!kept)
        r->in->columns[r->column].left_out += folded_count_double(line->count);
    return err < 0 ? too_many(r) : 0;
}

static int take_line(struct reader *r, const char *s, size_t len)
{
    struct folded_line line;
    int kind;

    if (++r->line == 1 && len >= 3 && memcmp(s, "\xef\xbb\xbf", 3) == 0) {
        s += 3; /* a byte order mark is no part of the first name */
        len -= 3;
    }
    kind = folded_parse_line(s, len, &line);
    if (kind == 0) {
        int status = take_heading(r, s, len);

        if (status)
            return status;
        take_meta(r, &r->in->sample, s, len, "sample");
        take_left_out(r, s, len);
    } else if (kind < 0) {
        if (r->unknown++ == 0)
            r->first_unknown = r->line;
    } else {
        r->in->columns[r->column].used = true;
        return take_stack(r, &line);
    }
    return 0;
}

/* Hands the whole lines of buf on and says in *used how many bytes they had. */
static int take_lines(struct reader *r, const char *buf, size_t len, size_t *used)
{
    int status = 0;

    *used = 0;
    while (!status && *used < len) {
        const char *s = buf + *used, *nl = memchr(s, '\n', len - *used);

        if (!nl)
            break;
        status = take_line(r, s, (size_t)(nl - s));
        *used += (size_t)(nl - s) + 1;
    }
    return status;
}

static int take_text(struct reader *r, const char *buf, size_t len)
{
    size_t used;
    int status = take_lines(r, buf, len, &used);

    if (!status && used < len)
        status = take_line(r, buf + used, len - used);
    return status;
}

static ssize_t read_some(int fd, struct strbuf *sb)
{
    ssize_t n;

    strbuf_grow(sb, CHUNK);
    do
        n = read(fd, sb->buf + sb->len, sb->alloc - sb->len - 1);
    while (n < 0 && errno == EINTR);
    if (n > 0)
        strbuf_setlen(sb, sb->len + (size_t)n);
    return n < 0 ? -errno : n;
}

static int read_text(struct reader *r, int fd, struct strbuf *sb)
{
    for (;;) {
        size_t used;
        ssize_t n;
        int status = take_lines(r, sb->buf, sb->len, &used);

        if (status)
            return status;
        memmove(sb->buf, sb->buf + used, sb->len - used);
        strbuf_setlen(sb, sb->len - used);
        n = read_some(fd, sb);
        if (n < 0)
            return flame_error(FLAME_FAILED, "%s: %s", r->name, strerror((int)-n));
        if (n == 0)
            return take_text(r, sb->buf, sb->len);
    }
}

/* An explorer shows all views, and where in its file a frame was. */
static int take_trace(struct reader *r, struct trace *trace)
{
    struct fold_options options = {.view = r->o->view, .all_views = r->o->columns && !r->o->view};
    struct strbuf text = STRBUF_INIT;
    int status;

    options.symbols.lines = r->o->lines;
    if (r->o->filter)
        fold_options_for(&options, r->o->filter);
    status = fold_loaded(&options, &trace, 1, &text);
    if (!status)
        status = take_text(r, text.buf, text.len);
    strbuf_release(&text);
    return status;
}

/* A trace, of which `sb` holds the beginning, is folded to text by the stage before this one. */
static int read_trace(struct reader *r, int fd, struct strbuf *sb)
{
    struct trace *trace = NULL;
    int status, err = strbuf_read_fd(sb, fd);

    if (err)
        return flame_error(FLAME_FAILED, "%s: %s", r->name, strerror(-err));
    status = trace_load_bytes(r->name, sb->buf, sb->len, false, &trace);
    strbuf_release(sb);
    if (!status)
        status = take_trace(r, trace);
    trace_free(trace);
    return status;
}

static int read_fd(struct reader *r, int fd)
{
    struct strbuf sb = STRBUF_INIT;
    int status = 0;

    /* Enough to tell a trace from text, also when a pipe gives a byte at a time. */
    while (sb.len < sizeof TRACE_MAGIC - 1) {
        ssize_t n = read_some(fd, &sb);

        if (n < 0)
            status = flame_error(n == -EISDIR ? FLAME_USAGE : FLAME_FAILED, "%s: %s", r->name,
                                 strerror((int)-n));
        if (n <= 0)
            break;
    }
    if (!status)
        status =
            trace_magic_matches(sb.buf, sb.len) ? read_trace(r, fd, &sb) : read_text(r, fd, &sb);
    strbuf_release(&sb);
    return status;
}

/* After one file. A view without a stack is empty, a text without one is no folded text. */
static int check_file(const struct reader *r)
{
    if (r->stacks == 0 && !r->unknown && r->in->view)
        return 0;
    if (r->stacks == 0)
        return flame_error(FLAME_USAGE,
                           "%s: no stack in %" PRIu64 " lines; expected lines like 'main;read 42'",
                           r->name, r->line);
    if (r->unknown)
        flame_warn("%s: %" PRIu64 " of %" PRIu64 " lines not understood and left out, the first "
                   "is line %" PRIu64,
                   r->name, r->unknown, r->line, r->first_unknown);
    return 0;
}

static int read_file(struct input *in, struct filter_lines *lines, const char *path, size_t nth,
                     const struct input_options *o)
{
    bool std = !path || strcmp(path, "-") == 0;
    struct reader r = {.in = in, .o = o, .lines = lines, .name = std ? "standard input" : path};
    int fd = std ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC);
    int status;

    if (fd < 0)
        return flame_error(FLAME_USAGE, "%s: %s", path, strerror(errno));
    frametree_use_column(&in->tree, 0);
    if (o->series && o->columns) {
        r.timed = true;
        r.moment = (double)nth;
    }
    status = r.timed ? use_column(&r, "", 0) : 0;
    if (!status)
        status = read_fd(&r, fd);
    if (!std)
        close(fd);
    return status ? status : check_file(&r);
}

static bool is_empty(const struct frametree *t, bool first_side)
{
    for (uint32_t i = 0; first_side && t->delta && i < t->n; i++)
        if (t->delta[i] < 0)
            return false;
    for (uint32_t c = 0; c < t->ncolumns; c++)
        for (uint32_t i = 0; i < t->n; i++)
            if (t->columns[c][i] > 0)
                return false;
    return folded_count_double(frametree_total(t, 0)) <= 0;
}

static int check_all(struct input *in, const char *name, const struct input_options *o)
{
    frametree_finish(&in->tree);
    if (in->tree.saturated)
        flame_warn("%s: counts add up to more than 2^64; the largest ones are cut there", name);
    if (!is_empty(&in->tree, o->first_side))
        return 0;
    if (in->tree.n == 1 && in->view && in->ncolumns > 1)
        return flame_error(FLAME_USAGE, "%s: all views are empty; there is nothing to show", name);
    if (in->tree.n == 1 && in->view)
        return flame_error(FLAME_USAGE, "%s: the %s view is empty; there is nothing to show", name,
                           in->view);
    return flame_error(FLAME_USAGE, "%s: every count is 0; there is nothing to show", name);
}

void input_set_total(struct input *in, double total)
{
    struct frametree *t = &in->tree;
    struct folded_count all = frametree_total(t, 0), wanted;

    wanted = (struct folded_count){(uint64_t)total, total - floor(total)};
    if (total < folded_count_double(all)) {
        flame_warn("--total %g is less than the counts add up to, so it is left aside", total);
        return;
    }
    t->nodes[0].total = wanted.whole;
    if (t->total_part)
        t->total_part[0] = wanted.part;
}

static int read_files(struct input *in, struct filter_lines *lines, char *const *paths,
                      size_t npaths, const struct input_options *o)
{
    int status = npaths == 0 ? read_file(in, lines, NULL, 0, o) : 0;

    for (size_t i = 0; !status && i < npaths; i++)
        status = read_file(in, lines, paths[i], i, o);
    return status;
}

static int read_filtered(struct input *in, char *const *paths, size_t npaths,
                         const struct input_options *o)
{
    struct filter_lines *lines = filter_lines_new(o->filter, take_kept, in);
    int status = read_files(in, lines, paths, npaths, o);

    if (!status && filter_lines_end(lines) < 0)
        status = flame_error(FLAME_FAILED, "more than 2^31 different frames; filter the input");
    filter_lines_free(lines);
    if (!status && !o->filter->gave_up && !o->filter->kept && o->filter->dropped)
        return flame_error(FLAME_USAGE,
                           "%s: the filters leave none of %" PRIu64
                           " stacks; there is nothing to show",
                           o->command, o->filter->dropped);
    return status ? status : filter_check(o->filter, o->command);
}

bool input_say_left_out(const struct input *in, struct strbuf *sb)
{
    double out = in->columns[0].left_out;

    if (!(out > 0))
        return false;
    strbuf_addf(sb, "filtered: %.3g%% left out",
                out / (out + folded_count_double(frametree_total(&in->tree, 0))) * 100);
    return true;
}

int input_read(struct input *in, char *const *paths, size_t npaths, const struct input_options *o)
{
    const char *first = npaths ? paths[0] : "-";
    int status, err;

    *in = (struct input){.ncolumns = 1};
    in->columns = xcalloc(1, sizeof *in->columns);
    frametree_init(&in->tree, o->reverse);
    if (o->keep_order)
        frametree_keep_order(&in->tree);
    if (o->filter && o->filter->active)
        status = read_filtered(in, paths, npaths, o);
    else
        status = read_files(in, NULL, paths, npaths, o);
    if (!status && o->encoding && (err = frametree_recode(&in->tree, o->encoding)))
        status = flame_error(FLAME_USAGE, "unknown encoding '%s'; iconv -l lists those there are",
                             o->encoding);
    if (!status)
        status = check_all(in, strcmp(first, "-") == 0 ? "standard input" : first, o);
    if (status)
        input_release(in);
    return status;
}

void input_release(struct input *in)
{
    frametree_release(&in->tree);
    for (uint32_t i = 0; i < in->ncolumns; i++) {
        free(in->columns[i].view);
        free(in->columns[i].unit);
    }
    free(in->columns);
    free(in->sample);
    *in = (struct input){0};
}
