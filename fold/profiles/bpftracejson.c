/*
 * bpftrace -f json (bpftrace(8), OUTPUT): an object a line, of which those of type "map" count.
 *
 *     {"type": "map", "data": {"@": {"bash,\n    do_idle+532\n    start_kernel+1860\n": 30}}}
 *
 * A key is what the text form has between its brackets: frames, leaf first, each in a line that
 * begins with blanks, and around them other keys, which become frames at the root. Histograms and
 * sums without keys have no stacks and are passed over, as they are of text.
 */
#include "fold/decode/jsonread.h"
#include "fold/collapse/readers.h"
#include "fold/stacks/span.h"

/* A key that is no stack, without the commas around it. */
static struct span bare(struct span key)
{
    key = span_trim(key);
    if (span_begins(key, ","))
        key = span_ltrim(span_from(key, 1));
    if (span_ends(key, ","))
        key = span_rtrim(span_to(key, key.len - 1));
    return key;
}

/* Pushes a key's frames, leaf first. The text before the first frame is the outermost frame. */
static void push_key(struct collapse *c, struct span key)
{
    struct span first = {key.s, 0}, line;
    bool framed = false;

    while (span_line(&key, &line)) {
        bool is_frame = line.len > 0 && line.s[0] == ' ';
        struct span text = is_frame ? span_trim(line) : bare(line);

        if (text.len == 0)
            continue;
        if (!is_frame && !framed && first.len == 0)
            first = text;
        else
            collapse_push(c, text.s, text.len);
        framed |= is_frame;
    }
    if (first.len)
        collapse_push(c, first.s, first.len);
}

/* The keys and values of one map. */
static void read_map(struct collapse *c, struct json *j, struct strbuf *key)
{
    struct stackset_count count;
    struct span number;

    if (json_peek(j) != '{' || !json_enter(j, '{')) {
        json_skip(j); /* a sum without keys */
        return;
    }
    while (json_key(j, key)) {
        if (json_peek(j) != '0') {
            json_skip(j);
            continue;
        }
        if (!json_number(j, &number) || !stackset_count_parse(number.s, number.len, &count))
            continue;
        push_key(c, (struct span){key->buf, key->len});
        if (c->n > 0)
            collapse_flush(c, LEAF_FIRST, &count);
    }
}

/* One line; false when it is no object of bpftrace's. */
static bool read_object(struct collapse *c, struct span line, struct strbuf *key)
{
    struct json j = {line.s, line.s + line.len, false};
    bool is_map = false;

    if (json_peek(&j) != '{' || !json_enter(&j, '{'))
        return false;
    while (json_key(&j, key)) {
        bool is_data = span_is((struct span){key->buf, key->len}, "data");

        if (span_is((struct span){key->buf, key->len}, "type") && json_peek(&j) == '"') {
            json_string(&j, key);
            is_map = span_is((struct span){key->buf, key->len}, "map");
        } else if (is_data && is_map && json_peek(&j) == '{' && json_enter(&j, '{')) {
            while (json_key(&j, key))
                read_map(c, &j, key);
        } else {
            json_skip(&j);
        }
    }
    return !j.bad;
}

void collapse_bpftrace_json_run(struct collapse *c)
{
    struct strbuf key = STRBUF_INIT;
    struct textrecord rec;

    while (textinput_record(&c->in, &rec))
        if (span_trim(rec.line).len && !read_object(c, rec.line, &key))
            collapse_unknown(c, rec.line.s, rec.line.len);
    strbuf_release(&key);
}

int collapse_bpftrace_json_probe(const char *text, size_t len)
{
    struct span rest = {text, len}, line;

    while (span_line(&rest, &line)) {
        line = span_ltrim(line);
        if (span_begins(line, "{\"type\": \"attached_probes\"") ||
            span_begins(line, "{\"type\": \"map\", \"data\": {\"@"))
            return 96;
    }
    return 0;
}
