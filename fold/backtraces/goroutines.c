/*
 * Stacks of goroutines as a Go program prints them: on a panic or a fatal error, on SIGQUIT, and
 * as the goroutine profile with debug=2 (GOTRACEBACK in https://pkg.go.dev/runtime):
 *
 *    goroutine 18 [chan receive, 5 minutes]:
 *    main.(*server).wait(0xc000018030, 0x0?)
 *            /src/p.go:12 +0x1e
 *    created by main.main in goroutine 1
 *            /src/p.go:20 +0x47
 *
 * Each goroutine counts one. Arguments are not part of a name. The state of a goroutine and its
 * creator are no frames unless --label asks for its keys `state` and `created`. Dumps lie amid a
 * program's other output, which is skipped.
 */
#include "fold/collapse/located.h"
#include "fold/collapse/readers.h"

struct goroutine {
    bool inside;
    struct strbuf state, created;
};

/* Whether a line begins a goroutine: "goroutine 18 [chan receive, 5 minutes]:"; newer versions
 * of Go print "gp=0xc0 m=nil" before the bracket. */
static bool is_head(struct span line, struct span *state)
{
    size_t open, digits;

    line = span_rtrim(line);
    if (!span_begins(line, "goroutine ") || !span_ends(line, "]:"))
        return false;
    line = span_from(line, strlen("goroutine "));
    digits = span_digits(line);
    open = span_chr(line, '[');
    if (digits == 0 || open == SIZE_MAX)
        return false;
    *state = span_to(span_from(line, open + 1), line.len - open - 3);
    *state = span_to(*state, span_chr(*state, ','));
    return true;
}

/* Reads file and line from "\t/src/p.go:12 +0x1e fp=0xc0 sp=0xc0 pc=0x46". */
static void read_place(struct span line, struct located *l)
{
    struct stackset_count n = {0, 0};
    const char *offset = span_find(line, " +0x");
    size_t colon;

    line = span_trim(offset ? span_to(line, (size_t)(offset - line.s)) : line);
    colon = span_rchr(line, ':');
    if (colon == SIZE_MAX)
        return;
    l->file = span_to(line, colon);
    line = span_from(line, colon + 1);
    if (stackset_count_parse(line.s, span_digits(line), &n))
        l->line = n.whole;
}

/* Reads "main.f[...](0x1, {0x2, ...})" without its arguments; false when the line is no call. */
static bool read_call(struct span line, struct located *l)
{
    size_t open = span_rchr(line, '(');

    if (!span_ends(line, ")") || open == SIZE_MAX || open == 0)
        return false;
    l->name = span_to(line, open);
    return true;
}

static void push_label(struct collapse *c, const char *key, const struct strbuf *value)
{
    struct strbuf text = STRBUF_INIT;

    if (value->len) {
        strbuf_addf(&text, "%s=", key);
        strbuf_add(&text, value->buf, value->len);
        collapse_push(c, text.buf, text.len);
        strbuf_release(&text);
    }
}

/* Pushes the labels that --label names. Frames are pushed leaf first, so that the first label
 * becomes the outermost frame. */
static void push_labels(struct collapse *c, const struct goroutine *g)
{
    struct span keys = span_of(c->opt->label ? c->opt->label : "");

    while (keys.len) {
        size_t comma = span_rchr(keys, ',');
        struct span key = comma == SIZE_MAX ? keys : span_from(keys, comma + 1);

        if (span_is(key, "state"))
            push_label(c, "state", &g->state);
        else if (span_is(key, "created"))
            push_label(c, "created", &g->created);
        keys = span_to(keys, comma == SIZE_MAX ? 0 : comma);
    }
}

static void end_goroutine(struct collapse *c, struct goroutine *g)
{
    if (g->inside && c->n > 0 && !c->in.error) {
        push_labels(c, g);
        collapse_flush_one(c, LEAF_FIRST);
    }
    collapse_drop(c);
    g->inside = false;
    strbuf_clear(&g->state);
    strbuf_clear(&g->created);
}

static void begin_goroutine(struct goroutine *g, struct span state)
{
    g->inside = true;
    strbuf_add(&g->state, state.s, state.len);
}

/* Reads "created by main.main in goroutine 1"; false when the line has another form. */
static bool read_creator(struct goroutine *g, struct span line)
{
    static const char by[] = "created by ";
    const char *in;

    if (!span_begins(line, by))
        return false;
    line = span_from(line, strlen(by));
    in = span_find(line, " in goroutine ");
    line = in ? span_to(line, (size_t)(in - line.s)) : line;
    strbuf_clear(&g->created);
    strbuf_add(&g->created, line.s, line.len);
    return true;
}

/* Whether a line is a register's, "rax 0x1": on SIGQUIT, such lines follow the last goroutine. */
static bool is_register(struct span line)
{
    struct span name = span_next(&line), value = span_next(&line);

    return name.len > 0 && name.len <= 8 && span_begins(value, "0x") &&
           span_hex(span_from(value, 2)) + 2 == value.len && line.len == 0;
}

/* Reads a line of a goroutine, and the line behind it, which has its file and line. */
static void read_line(struct collapse *c, struct goroutine *g, const struct textrecord *rec)
{
    struct span line = span_rtrim(rec->line), place;
    struct located l = {.line = 0};
    bool call = read_call(line, &l);

    if (span_find(line, "frames elided...") || span_find(line, "stack unavailable")) {
        line = span_trim(line);
        collapse_push(c, line.s, line.len);
        return;
    }
    if (!call && !read_creator(g, line)) {
        collapse_unknown(c, rec->line.s, rec->line.len);
        return;
    }
    if (textrecord_line(rec, &place)) {
        if (span_begins(place, "\t"))
            read_place(place, &l);
        else
            textrecord_unread(rec, place);
    }
    if (call)
        collapse_push_id(c, collapse_located(c, &l));
}

void collapse_goroutines_run(struct collapse *c)
{
    struct goroutine g = {.state = STRBUF_INIT, .created = STRBUF_INIT};
    struct textrecord rec;
    struct span state;

    while (textinput_record(&c->in, &rec)) {
        if (is_head(rec.line, &state)) {
            end_goroutine(c, &g);
            begin_goroutine(&g, state);
        } else if (g.inside && (span_trim(rec.line).len == 0 || is_register(rec.line))) {
            end_goroutine(c, &g);
        } else if (g.inside) {
            read_line(c, &g, &rec);
        }
    }
    end_goroutine(c, &g);
    strbuf_release(&g.state);
    strbuf_release(&g.created);
}

int collapse_goroutines_probe(const char *text, size_t len)
{
    struct span rest = {text, len}, line, state;
    struct located l;
    bool head = false;

    while (span_line(&rest, &line)) {
        if (head && (read_call(span_rtrim(line), &l) || span_find(line, "stack unavailable")))
            return 91;
        head = is_head(line, &state);
    }
    return 0;
}
