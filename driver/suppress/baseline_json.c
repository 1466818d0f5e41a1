/*
 * A baseline from leak.json (flame leak --json): of each leak its class, its bytes, its process and
 * the functions of its frames. All else is skipped, so that files of a newer flame can be read.
 */
#include "driver/suppress/baseline_json.h"

#include <stdlib.h>

#include "common/alloc.h"
#include "common/folded.h"
#include "fold/decode/jsonread.h"

/* One leak, as far as it has been read. */
struct read_leak {
    struct strbuf key, word;
    struct strbuf process;
    struct strbuf functions; /* NUL-terminated each, the innermost first */
    size_t *at, n, room;     /* the places where they begin */
    bool wanted;             /* its class is one that the view counts */
    uint64_t bytes;
};

static bool is_wanted(const char *class, const char *view)
{
    if (strcmp(view, "live") == 0)
        return strcmp(class, "live") == 0;
    return strcmp(class, "definite") == 0 || strcmp(class, "indirect") == 0;
}

static void read_bytes(struct json *j, uint64_t *bytes)
{
    struct span number;

    *bytes = 0;
    if (!json_number(j, &number))
        return;
    for (size_t i = 0; i < number.len; i++) {
        unsigned digit = (unsigned)(number.s[i] - '0');

        j->bad |= digit > 9;
        *bytes = *bytes > (UINT64_MAX - 9) / 10 ? UINT64_MAX : *bytes * 10 + digit;
    }
}

static void read_function(struct json *j, struct read_leak *l)
{
    bool named = false;

    json_enter(j, '{');
    while (!j->bad && json_key(j, &l->key)) {
        if (strcmp(l->key.buf, "function") != 0) {
            json_skip(j);
            continue;
        }
        named = json_string(j, &l->word);
        GROW(l->at, l->n, l->room);
        l->at[l->n++] = l->functions.len;
        folded_add_frame(&l->functions, l->word.buf, l->word.len);
        strbuf_addch(&l->functions, '\0');
    }
    j->bad |= !named || l->n > FOLDED_FRAMES_MAX;
}

static void read_process(struct json *j, struct read_leak *l)
{
    json_enter(j, '{');
    while (!j->bad && json_key(j, &l->key)) {
        if (strcmp(l->key.buf, "name") == 0)
            json_string(j, &l->process);
        else
            json_skip(j);
    }
}

static void read_leak(struct json *j, struct read_leak *l, const char *view)
{
    l->n = 0;
    l->wanted = false;
    l->bytes = 0;
    strbuf_clear(&l->process);
    strbuf_clear(&l->functions);
    json_enter(j, '{');
    while (!j->bad && json_key(j, &l->key)) {
        if (strcmp(l->key.buf, "class") == 0) {
            l->wanted = json_string(j, &l->word) && is_wanted(l->word.buf, view);
        } else if (strcmp(l->key.buf, "bytes") == 0) {
            read_bytes(j, &l->bytes);
        } else if (strcmp(l->key.buf, "process") == 0) {
            read_process(j, l);
        } else if (strcmp(l->key.buf, "frames") == 0) {
            json_enter(j, '[');
            while (!j->bad && json_item(j))
                read_function(j, l);
        } else {
            json_skip(j);
        }
    }
}

static void add_leak(struct baseline *b, const struct read_leak *l)
{
    struct strbuf stack = STRBUF_INIT, key = STRBUF_INIT;

    folded_add_frame(&stack, l->process.buf, l->process.len);
    for (size_t i = l->n; i-- > 0;) {
        strbuf_addch(&stack, ';');
        strbuf_addstr(&stack, l->functions.buf + l->at[i]);
    }
    baseline_add_key(&key, stack.buf, stack.len);
    if (key.len)
        baseline_add(b, key.buf, key.len, l->bytes);
    strbuf_release(&stack);
    strbuf_release(&key);
}

static void read_leaks(struct baseline *b, struct json *j, struct read_leak *l, const char *view)
{
    json_enter(j, '[');
    while (!j->bad && json_item(j)) {
        read_leak(j, l, view);
        if (!j->bad && l->wanted)
            add_leak(b, l);
    }
}

static size_t line_at(const char *text, const char *at)
{
    size_t line = 1;

    for (; text < at; text++)
        line += *text == '\n';
    return line;
}

bool baseline_add_json(struct baseline *b, const char *view, const char *text, size_t len,
                       size_t *line)
{
    struct json j = {.s = text, .end = text + len};
    struct read_leak l = {
        .key = STRBUF_INIT, .word = STRBUF_INIT, .process = STRBUF_INIT, .functions = STRBUF_INIT};
    bool format = false, leaks = false;

    json_enter(&j, '{');
    while (!j.bad && json_key(&j, &l.key)) {
        if (strcmp(l.key.buf, "format") == 0) {
            format = json_string(&j, &l.word) && strcmp(l.word.buf, "flame-leak") == 0;
        } else if (strcmp(l.key.buf, "leaks") == 0) {
            leaks = true;
            read_leaks(b, &j, &l, view);
        } else {
            json_skip(&j);
        }
    }
    *line = j.bad ? line_at(text, j.s) : 0;
    strbuf_release(&l.key);
    strbuf_release(&l.word);
    strbuf_release(&l.process);
    strbuf_release(&l.functions);
    free(l.at);
    return !j.bad && format && leaks && !json_peek(&j);
}
