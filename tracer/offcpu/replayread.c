/*
 * replayread.c: reads a line as a record. The line may hold any bytes.
 */
#include <errno.h>
#include <stdlib.h>

#include "tracer/offcpu/calls.h"
#include "tracer/offcpu/replayfields.h"

/* The rest of a line, or of a field of it. */
struct rest {
    const char *at, *end;
};

/* Takes the part before the next `by`, and the `by` itself. */
static struct rest take(struct rest *from, char by)
{
    const char *to =
        from->at == from->end ? NULL : memchr(from->at, by, (size_t)(from->end - from->at));
    struct rest part = {from->at, to ? to : from->end};

    from->at = to ? to + 1 : from->end;
    return part;
}

static size_t left(const struct rest *r)
{
    return (size_t)(r->end - r->at);
}

static bool is_word(const struct rest *r, const char *word)
{
    return left(r) == strlen(word) && memcmp(r->at, word, left(r)) == 0;
}

static int find_word(const struct rest *r, const char *const *words, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (words[i] && is_word(r, words[i]))
            return (int)i;
    return -1;
}

/* ---- numbers ---- */

static int digit(char c, unsigned base)
{
    int d = c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : 16;

    return d < (int)base ? d : -1;
}

/* Reads all of `r` as a number of at most `most`. */
static bool read_number(struct rest r, unsigned base, uint64_t most, uint64_t *out)
{
    uint64_t n = 0;

    if (!left(&r))
        return false;
    for (; r.at < r.end; r.at++) {
        int d = digit(*r.at, base);

        if (d < 0 || n > (most - (uint64_t)d) / base)
            return false;
        n = n * base + (uint64_t)d;
    }
    *out = n;
    return true;
}

static bool read_signed(struct rest r, int64_t least, uint64_t most, int64_t *out)
{
    bool negative = left(&r) && *r.at == '-';
    uint64_t n;

    r.at += negative;
    if (!read_number(r, 10, negative ? 0 - (uint64_t)least : most, &n))
        return false;
    *out = (int64_t)(negative ? 0 - n : n);
    return true;
}

static bool read_int(struct rest r, int *out)
{
    int64_t n;

    if (!read_signed(r, INT32_MIN, INT32_MAX, &n))
        return false;
    *out = (int)n;
    return true;
}

static bool read_u32(struct rest r, uint32_t *out)
{
    uint64_t n;

    if (!read_number(r, 10, UINT32_MAX, &n))
        return false;
    *out = (uint32_t)n;
    return true;
}

/* ---- compound values ---- */

static bool read_span(struct rest r, struct off_span *out)
{
    struct rest ns = take(&r, ','), longest = take(&r, ',');

    return read_number(ns, 10, UINT64_MAX, &out->ns) &&
           read_number(longest, 10, UINT64_MAX, &out->longest_ns) &&
           read_number(r, 10, UINT64_MAX, &out->times);
}

static bool read_args(struct rest r, uint64_t args[6])
{
    memset(args, 0, 6 * sizeof args[0]);
    for (size_t i = 0; i < 6; i++) {
        if (!read_number(take(&r, ','), 16, UINT64_MAX, &args[i]))
            return false;
        if (!left(&r))
            return true;
    }
    return false;
}

static bool read_words(struct rest r, struct arg_copy *out, struct replay_memory *m)
{
    size_t n = 0;

    do {
        GROW(m->words, n, m->words_room);
        if (!read_number(take(&r, ','), 16, UINT64_MAX, &m->words[n++]))
            return false;
    } while (left(&r));
    *out = (struct arg_copy){m->words, n};
    return true;
}

static bool read_object(struct rest r, struct off_object *out)
{
    struct rest word = take(&r, ','), side = take(&r, ','), wants = take(&r, ','),
                a = take(&r, ',');
    int kind = find_word(&word, replay_objects, OFF_ON_KINDS);
    uint64_t s, w;

    if (kind < 0 || !read_number(side, 10, UINT16_MAX, &s) ||
        !read_number(wants, 10, UINT16_MAX, &w) || !read_number(a, 16, UINT64_MAX, &out->a) ||
        !read_number(r, 16, UINT64_MAX, &out->b))
        return false;
    out->kind = (enum off_object_kind)kind;
    out->side = (uint16_t)s;
    out->wants = (uint16_t)w;
    return true;
}

static bool read_set(struct rest r, struct off_set *out, struct replay_memory *m)
{
    size_t n = 0;

    do {
        if (n == OFF_SET_MAX)
            return false;
        GROW(m->members, n, m->members_room);
        if (!read_object(take(&r, ';'), &m->members[n++]))
            return false;
    } while (left(&r));
    *out = (struct off_set){m->members, n};
    return true;
}

static bool read_text(struct rest r, const char **out, struct replay_memory *m)
{
    GROW_TO(m->name, left(&r) + 1, m->name_room);
    memcpy(m->name, r.at, left(&r));
    m->name[left(&r)] = '\0';
    *out = m->name;
    return strlen(m->name) == left(&r);
}

/* -ENOSYS: this processor has no such call, or the name is unknown. */
static int read_call(struct rest r, int *out)
{
    size_t n;
    const struct call *calls = call_table(&n);

    for (size_t i = 0; i < n; i++)
        if (is_word(&r, calls[i].name)) {
            *out = calls[i].nr;
            return 0;
        }
    return -ENOSYS;
}

/* ---- fields and lines ---- */

static int read_value(struct replay_record *r, struct replay_memory *m,
                      const struct replay_field *f, struct rest value)
{
    void *at = (char *)r + f->at;
    bool is = false;

    switch (f->type) {
    case REPLAY_CALL:
        return read_call(value, at);
    case REPLAY_INT:
        is = read_int(value, at);
        break;
    case REPLAY_I64:
        is = read_signed(value, INT64_MIN, INT64_MAX, at);
        break;
    case REPLAY_U64:
        is = read_number(value, 10, UINT64_MAX, at);
        break;
    case REPLAY_U32:
        is = read_u32(value, at);
        break;
    case REPLAY_ARGS:
        is = read_args(value, at);
        break;
    case REPLAY_SPAN:
        is = read_span(value, at);
        break;
    case REPLAY_WORDS:
        is = read_words(value, at, m);
        break;
    case REPLAY_IS:
        is = read_object(value, at);
        break;
    case REPLAY_SET:
        is = read_set(value, at, m);
        break;
    case REPLAY_TEXT:
        is = read_text(value, at, m);
        break;
    case REPLAY_FLAG:
        break;
    }
    return is ? 0 : -EINVAL;
}

static const struct replay_field *find_field(const struct rest *key)
{
    for (size_t i = 0; i < replay_nfields; i++)
        if (is_word(key, replay_fields[i].key))
            return &replay_fields[i];
    return NULL;
}

static int read_field(struct replay_record *r, struct replay_memory *m, struct rest *line)
{
    struct rest all = *line, value = take(line, ' '), key;
    const struct replay_field *f;

    if (is_word(&value, ""))
        return -EINVAL;
    if (!memchr(value.at, '=', left(&value))) {
        f = find_field(&value);
        if (!f || f->type != REPLAY_FLAG)
            return -EINVAL;
        *(bool *)((char *)r + f->at) = true;
        return 0;
    }
    key = take(&value, '=');
    f = find_field(&key);
    if (!f)
        return -EINVAL;
    if (f->type == REPLAY_TEXT) { /* with its blanks */
        value.end = all.end;
        line->at = line->end;
    }
    return read_value(r, m, f, value);
}

static bool read_kind(struct replay_record *r, const struct rest *word)
{
    int kind = find_word(word, replay_events, ARRAY_LEN(replay_events));

    if (kind >= 0) {
        r->kind = REPLAY_EVENT;
        r->event.kind = (enum off_event_kind)kind;
        return true;
    }
    kind = find_word(word, replay_words, ARRAY_LEN(replay_words));
    if (kind >= 0)
        r->kind = (enum replay_kind)kind;
    return kind >= 0;
}

int replay_read(struct replay_record *r, struct replay_memory *m, const char *line, size_t len)
{
    struct rest rest = {line, line + len}, word;
    int err = 0;

    *r = (struct replay_record){.kind = REPLAY_NOTHING};
    if (!len || *line == '#')
        return 0;
    word = take(&rest, ' ');
    if (!read_kind(r, &word))
        return -EINVAL;
    while (!err && left(&rest))
        err = read_field(r, m, &rest);
    if (r->memory.n)
        r->event.memory = &r->memory;
    if (r->kind == REPLAY_EVENT && r->event.kind == OFF_UNSAMPLED)
        r->event.unsampled = &r->unsampled;
    return err;
}

void replay_memory_release(struct replay_memory *m)
{
    free(m->words);
    free(m->members);
    free(m->name);
    *m = (struct replay_memory){.words = NULL};
}
