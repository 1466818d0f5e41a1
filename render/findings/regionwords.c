#define _GNU_SOURCE
#include "render/findings/regionwords.h"

#include <inttypes.h>
#include <string.h>

#include "common/compiler.h"
#include "render/text/value.h"

#define BEGINS "# region: "
#define NAME " name=\""

static void add_time(struct strbuf *sb, uint64_t ns)
{
    if (!value_add_human(sb, (struct folded_count){.whole = ns}, "nanoseconds"))
        strbuf_addf(sb, "%" PRIu64 " ns", ns);
}

/* The number behind " key=" of a line's fields. False: there is none. */
static bool field(const char *s, const char *end, const char *key, uint64_t *value)
{
    size_t len = strlen(key);
    const char *at = memmem(s, (size_t)(end - s), key, len);
    unsigned digits = 0;

    *value = 0;
    for (at = at ? at + len : end; at < end && *at >= '0' && *at <= '9' && digits < 19; digits++)
        *value = *value * 10 + (uint64_t)(*at++ - '0');
    return digits > 0 && (at == end || *at == ' ');
}

struct saying {
    struct strbuf line; /* of the current region; empty: there is none */
    size_t reported, most;
    void (*say)(void *arg, const char *line);
    void *arg;
};

static void flush(struct saying *s)
{
    if (s->line.len && s->reported++ < s->most)
        s->say(s->arg, s->line.buf);
    strbuf_clear(&s->line);
}

static void say_region(struct saying *s, const char *at, const char *end, const char *name,
                       size_t len)
{
    static const char *const keys[][2] = {
        {" p50=", ", p50 "}, {" p95=", ", p95 "}, {" p99=", ", p99 "}, {" max=", ", max "}};
    uint64_t n, ns;

    flush(s);
    if (!field(at, end, " times=", &n))
        return;
    strbuf_addf(&s->line, "region %.*s: ", (int)len, name);
    value_add_counted(&s->line, n, "time", "times");
    for (size_t i = 0; i < ARRAY_LEN(keys); i++)
        if (field(at, end, keys[i][0], &ns)) {
            strbuf_addstr(&s->line, keys[i][1]);
            add_time(&s->line, ns);
        }
    if (field(at, end, " cut=", &n) && n)
        strbuf_addf(&s->line, ", %" PRIu64 " of them not ended", n);
}

static void say_slow(struct saying *s, const char *at, const char *end, const char *name,
                     size_t len)
{
    uint64_t length, waited;

    if (s->line.len && field(at, end, " length=", &length) && field(at, end, " waited=", &waited) &&
        length && waited <= length)
        strbuf_addf(&s->line, "; of the slowest 1%% of them %.0f%% waiting for %.*s",
                    (double)waited / (double)length * 100, (int)len, name);
}

static void take_line(struct saying *s, const char *at, const char *end)
{
    size_t begins = sizeof BEGINS - 1, quote = sizeof NAME - 1, len;
    const char *name;

    if ((size_t)(end - at) <= begins || memcmp(at, BEGINS, begins) != 0 || end[-1] != '"')
        return;
    at += begins - 1; /* fields begin with a blank */
    name = memmem(at, (size_t)(end - at), NAME, quote);
    if (!name || name + quote > end - 1)
        return;
    len = (size_t)(end - 1 - (name + quote));
    if (strncmp(at, " times=", 7) == 0)
        say_region(s, at, name, name + quote, len);
    else if (strncmp(at, " slow ", 6) == 0)
        say_slow(s, at, name, name + quote, len);
    else if (strncmp(at, " held ", 6) == 0 && s->line.len)
        strbuf_addf(&s->line, ", behind that %.*s", (int)len, name + quote);
}

void regionwords_say(const struct strbuf *text, size_t most,
                     void (*say)(void *arg, const char *line), void *arg)
{
    struct saying s = {.line = STRBUF_INIT, .most = most, .say = say, .arg = arg};
    const char *at = text->buf, *end = text->buf + text->len;

    while (at < end) {
        const char *newline = memchr(at, '\n', (size_t)(end - at));
        const char *line_end = newline ? newline : end;

        if (line_end > at)
            take_line(&s, at, line_end);
        at = line_end + 1;
    }
    flush(&s);
    strbuf_release(&s.line);
}
