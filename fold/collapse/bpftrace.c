/* bpftrace: maps whose key is a stack, ended by "]: NUMBER". */
#include "fold/collapse/countline.h"
#include "fold/collapse/readers.h"
#include "fold/stacks/span.h"

/* Parses "]: NUMBER" at the end; *before is the text before it. */
static bool ends_map(struct span line, struct span *before, struct stackset_count *count)
{
    line = span_rtrim(line);
    for (size_t i = line.len; i >= 3; i--)
        if (memcmp(line.s + i - 3, "]: ", 3) == 0) {
            *before = span_to(line, i - 3);
            return countline_number(span_from(line, i), count);
        }
    return false;
}

/* Parses "@[" or "@name[" at the beginning; *behind is the text behind it. */
static bool begins_map(struct span line, struct span *behind)
{
    size_t n;

    if (!span_begins(line, "@"))
        return false;
    n = 1 + span_word(span_from(line, 1));
    if (n >= line.len || line.s[n] != '[')
        return false;
    *behind = span_from(line, n + 1);
    return true;
}

/* Pushes a key that is no stack (a command's name), without the commas around it. */
static void map_key(struct collapse *c, struct span key, size_t *at_root)
{
    key = span_trim(key);
    if (span_begins(key, ","))
        key = span_ltrim(span_from(key, 1));
    if (span_ends(key, ","))
        key = span_rtrim(span_to(key, key.len - 1));
    if (key.len == 0)
        return;
    collapse_push(c, key.s, key.len);
    if (at_root)
        ++*at_root;
}

/* Keys before the stack go to the root, where those behind it are anyway. */
static void end_map(struct collapse *c, size_t keys, const struct stackset_count *count)
{
    for (size_t i = 0; i < keys; i++)
        collapse_push_id(c, c->ids[i]);
    if (keys) {
        memmove(c->ids, c->ids + keys, (c->n - keys) * sizeof *c->ids);
        c->n -= keys;
    }
    if (c->n > 0)
        collapse_flush(c, LEAF_FIRST, count);
}

void collapse_bpftrace_run(struct collapse *c)
{
    struct stackset_count count;
    struct textrecord rec;
    struct span rest;
    bool inside = false;
    size_t keys = 0;

    while (textinput_record(&c->in, &rec)) {
        struct span line = rec.line;

        if (!inside) {
            keys = 0;
            if (!begins_map(line, &rest)) {
                if (span_trim(line).len && !span_begins(line, "Attaching ") &&
                    !span_begins(line, "Attached "))
                    collapse_unknown(c, line.s, line.len);
            } else if (ends_map(rest, &rest, &count)) {
                map_key(c, rest, NULL);
                end_map(c, 0, &count);
            } else {
                inside = true;
                map_key(c, rest, &keys);
            }
        } else if (ends_map(line, &rest, &count)) {
            map_key(c, rest, NULL);
            end_map(c, keys, &count);
            inside = false;
        } else {
            rest = span_ltrim(line);
            if (rest.len && !span_is(span_rtrim(rest), ","))
                collapse_push(c, rest.s, rest.len);
        }
    }
    if (inside)
        collapse_unknown(c, "end of file inside a stack", 26);
    collapse_drop(c);
}

int collapse_bpftrace_probe(const char *text, size_t len)
{
    static const char *const words[] = {"Attaching ", "Attached ", NULL};
    struct span rest = {text, len}, line, part;
    struct stackset_count count;
    bool begun = false;

    while (span_line(&rest, &line)) {
        begun |= begins_map(line, &part);
        if (begun && ends_map(line, &part, &count))
            return 90;
    }
    return countline_is_preamble(text, len, words) ? 50 : 0;
}
