/*
 * input_text.c: folded text into the tree. Headings choose the column that the following counts go
 * to; comments bring moments, lanes and regions; all other lines are stacks with counts.
 */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "common/alloc.h"
#include "common/error.h"
#include "render/input_impl.h"

#define COLUMNS_MAX 4096   /* a column takes eight bytes a frame */
#define UNKNOWN_SHOWN 120u /* bytes of a line */

/* Stores the value of `key` if there is none yet: when several texts are merged, the first one
 * counts. */
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

/* The moment of the following counts, in seconds. */
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

/* Whether a value is a number as flame writes it, of digits and '.' only, so that it is safe in
 * titles. */
static bool is_number(const char *s, size_t len)
{
    for (size_t i = 0; i < len; i++)
        if (s[i] != '.' && (s[i] < '0' || s[i] > '9'))
            return false;
    return len <= 24;
}

/* Stores the moment or range of a column as the text has it. Texts of several moments may be
 * added up; such a column has none. */
static void take_when(struct input_column *c, const char *s, size_t len)
{
    const struct {
        const char *key;
        char **where;
    } words[] = {{"from", &c->from}, {"to", &c->to}};
    const char *value = "";
    size_t n;

    for (size_t i = 0; i < ARRAY_LEN(words); i++) {
        char **where = words[i].where;

        if (!folded_find_meta(s, len, words[i].key, &value, &n) &&
            (i == 0 || !folded_find_meta(s, len, "time", &value, &n)))
            n = 0;
        if (!is_number(value, n))
            n = 0;
        if (!*where)
            *where = xmemdup0(n ? value : "", n);
        else if (strlen(*where) != n || (n && memcmp(*where, value, n) != 0))
            **where = '\0';
    }
}

int input_use_column(struct reader *r, const char *s, size_t len)
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
    if (r->columns) {
        take_time(r, s, len);
        status = input_use_column(r, s, len);
        in->columns[r->column].used = true;
    }
    take_meta(r, &in->columns[r->column].view, s, len, "view");
    take_meta(r, &in->columns[r->column].unit, s, len, "unit");
    take_when(&in->columns[r->column], s, len);
    in->view = in->columns[0].view;
    in->unit = in->columns[0].unit;
    return status;
}

/* Adds the filtered-out count of a line, "12", or "12,34" of a comparison, of which the second
 * is shown. */
static void take_left_out(struct reader *r, const char *s, size_t len)
{
    const char *value, *comma;
    struct stackset_count count;
    size_t n;

    if (!folded_find_meta(s, len, FOLDED_LEFT_OUT, &value, &n))
        return;
    comma = memchr(value, ',', n);
    if (comma) {
        n -= (size_t)(comma + 1 - value);
        value = comma + 1;
    }
    if (stackset_count_parse(value, n, &count))
        r->in->columns[r->column].left_out += (double)stackset_count_number(&count);
}

static int too_many(struct reader *r)
{
    return flame_error(FLAME_FAILED,
                       "%s:%" PRIu64 ": more than 2^31 different frames; filter the input", r->name,
                       r->line);
}

#define REGIONS_KEPT 65536u /* bytes of comments */

/* Tags of lines on their way through the filter: columns, from HISTORIES on histories, and from
 * LANES on stacks of lanes. */
#define HISTORIES COLUMNS_MAX
#define LANES (1u << 31)

static int place_lanes(struct input *in, const char *stack, size_t len, size_t nth)
{
    uint32_t node;
    int err = frametree_place(&in->tree, stack, len, &node);

    if (!err)
        lanes_placed(&in->lanes, nth, node);
    return err;
}

static int place_history(struct input *in, const char *stack, size_t len, size_t history)
{
    uint32_t node;
    int err = frametree_place(&in->tree, stack, len, &node);

    if (!err)
        timeline_placed(&in->timeline, history, node);
    return err;
}

int input_take_kept(void *opaque, const struct folded_line *line, unsigned column)
{
    struct input *in = opaque;

    if (column >= LANES)
        return place_lanes(in, line->stack, line->len, column - LANES);
    if (column >= HISTORIES)
        return place_history(in, line->stack, line->len, column - HISTORIES);
    frametree_use_column(&in->tree, column);
    return frametree_add(&in->tree, line);
}

/* Whether names need their modules. A filter that turns frames into modules needs them, too, and
 * removes them. */
static bool keeps_modules(const struct reader *r)
{
    return r->o->modules || (r->o->filter && r->o->filter->by == PLACE_MODULE);
}

static int take_stack(struct reader *r, struct folded_line *line)
{
    bool kept;
    int err;

    if (folded_is_too_deep(line->stack, line->len))
        return flame_error(FLAME_USAGE, "%s: cannot read: line %" PRIu64 " %s", r->name, r->line,
                           FOLDED_TOO_DEEP);
    module_text_stack(r->modules, keeps_modules(r), &r->stack, &line->stack, &line->len);
    r->stacks++;
    if (!r->lines)
        return frametree_add(&r->in->tree, line) < 0 ? too_many(r) : 0;
    err = filter_lines_add(r->lines, line, r->column, &kept);
    if (!kept)
        r->in->columns[r->column].left_out += folded_count_double(line->count);
    return err < 0 ? too_many(r) : 0;
}

/* Sends a stack of a history or of lanes through the filter; its tag is `first` + `nth`. Filter
 * counts stay unchanged, as the lines with counts account for what is filtered out. */
static int filter_placed(struct reader *r, const char *stack, size_t len, unsigned first,
                         size_t nth)
{
    const struct folded_line line = {.stack = stack, .len = len, .count = {1, 0}};
    struct filter *f = r->o->filter;
    uint64_t before = f->kept, dropped = f->dropped;
    bool kept;
    int err;

    if (nth >= LANES - HISTORIES)
        return 0;
    err = filter_lines_add(r->lines, &line, first + (unsigned)nth, &kept);
    f->kept = before;
    f->dropped = dropped;
    return err;
}

static int take_moments(struct reader *r, const char *s, size_t len)
{
    size_t stack_len, nth;
    const char *stack;
    bool history;
    int err;

    if (!(r->o->moments || r->o->waits) || r->timed)
        return 0;
    history = r->o->moments &&
              timeline_comment(&r->in->timeline, s, len, r->line, &stack, &stack_len, &nth);
    if (!history && !lanes_comment(&r->in->lanes, s, len, r->line, &stack, &stack_len, &nth))
        return 0;
    if (folded_is_too_deep(stack, stack_len))
        return flame_error(FLAME_USAGE, "%s: cannot read: line %" PRIu64 " %s", r->name, r->line,
                           FOLDED_TOO_DEEP);
    module_text_stack(r->modules, keeps_modules(r), &r->stack, &stack, &stack_len);
    if (r->lines)
        err = filter_placed(r, stack, stack_len, history ? HISTORIES : LANES, nth);
    else
        err = (history ? place_history : place_lanes)(r->in, stack, stack_len, nth);
    return err < 0 ? too_many(r) : 0;
}

/* Keeps a comment about the lengths of regions (fold/analysis/regiontext.h), for reports. */
static void take_region(struct input *in, const char *s, size_t len)
{
    static const char begins[] = "# region: ";

    if (len < sizeof begins || memcmp(s, begins, sizeof begins - 1) != 0 ||
        in->regions.len > REGIONS_KEPT)
        return;
    strbuf_add(&in->regions, s, len);
    strbuf_addch(&in->regions, '\n');
}

static int take_line(struct reader *r, const char *s, size_t len)
{
    struct folded_line line;
    int kind;

    if (++r->line == 1 && len >= 3 && memcmp(s, "\xef\xbb\xbf", 3) == 0) {
        s += 3; /* a byte order mark is no part of the first name */
        len -= 3;
    }
    kind = folded_columns_parse(&r->counts, s, len, r->line, &line);
    if (kind == 0) {
        int status = take_heading(r, s, len);

        if (!status)
            status = take_moments(r, s, len);
        if (status)
            return status;
        r->modules = module_text_of(s, len, r->modules);
        r->in->modules |= r->modules && r->o->modules;
        take_meta(r, &r->in->sample, s, len, "sample");
        take_left_out(r, s, len);
        take_region(r->in, s, len);
    } else if (kind < 0) {
        if (r->unknown++ == 0) {
            r->first_unknown = r->line;
            strbuf_add(&r->unknown_text, s, len < UNKNOWN_SHOWN ? len : UNKNOWN_SHOWN);
        }
    } else {
        r->in->columns[r->column].used = true;
        return take_stack(r, &line);
    }
    return 0;
}

int input_read_text(struct reader *r, struct textinput *text)
{
    struct textrecord rec;
    const char *begins;
    size_t len = textinput_peek(text, &begins, FOLDED_COLUMNS_LOOK);
    int status = 0;

    folded_columns_begin(&r->counts, begins, len);
    while (!status && textinput_record(text, &rec))
        status = take_line(r, rec.line.s, rec.line.len);
    folded_columns_release(&r->counts);
    if (text->error)
        return textinput_cannot_read(text);
    return status;
}
