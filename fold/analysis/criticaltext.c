#define _GNU_SOURCE
#include "fold/analysis/criticaltext.h"

#include <stdlib.h>
#include <string.h>

#include "common/alloc.h"

#define BEGINS "# critical: "
#define NAME " name=\""

void critical_text_init(struct critical_text *c)
{
    *c = (struct critical_text){.paths = 0};
}

void critical_text_release(struct critical_text *c)
{
    for (size_t i = 0; i < c->threads; i++)
        free(c->thread[i].name);
    for (size_t i = 0; i < c->things; i++)
        free(c->thing[i].name);
    free(c->ends_in);
    critical_text_init(c);
}

/* The number behind " key=" in the fields [s, end). False: there is none. */
static bool field(const char *s, const char *end, const char *key, uint64_t *value)
{
    size_t len = strlen(key);
    const char *at = memmem(s, (size_t)(end - s), key, len);

    if (!at || at + len == end || at[len] < '0' || at[len] > '9')
        return false;
    *value = 0;
    for (at += len; at < end && *at >= '0' && *at <= '9'; at++) {
        if (*value > (UINT64_MAX - 9) / 10)
            return false;
        *value = *value * 10 + (uint64_t)(*at - '0');
    }
    return at == end || *at == ' ';
}

static bool take_path(struct critical_text *c, const char *s, const char *end, char *name)
{
    struct critical_text p = {.paths = 1};

    if (!field(s, end, " length=", &p.length_ns) || !field(s, end, " ran=", &p.ran_ns) ||
        !field(s, end, " waited=", &p.waited_ns) || !field(s, end, " woken=", &p.woken_ns) ||
        !field(s, end, " short=", &p.short_ns) || !field(s, end, " unknown=", &p.unknown_ns) ||
        !field(s, end, " threads=", &p.nthreads))
        return false;
    if (!field(s, end, " regions=", &p.regions))
        p.regions = 0;
    if (c->paths++) {
        free(name);
        return true;
    }
    p.ends_in = name;
    *c = p;
    return true;
}

static bool take_part(const struct critical_text *c, struct critical_text_part *list, size_t *n,
                      const struct critical_text_part *part)
{
    if (!c->paths)
        return false;
    if (c->paths > 1 || *n == CRITICAL_TEXT_MOST)
        free(part->name);
    else
        list[(*n)++] = *part;
    return true;
}

bool critical_text_line(struct critical_text *c, const char *s, size_t len)
{
    static const size_t begins = sizeof BEGINS - 1, name_begins = sizeof NAME - 1;
    struct critical_text_part part = {0};
    const char *end, *name;
    bool taken = false;

    if (len <= begins || memcmp(s, BEGINS, begins) != 0 || s[len - 1] != '"')
        return false;
    end = memmem(s, len, NAME, name_begins);
    if (!end || end + name_begins > s + len - 1)
        return false;
    name = end + name_begins;
    part.name = xmemdup0(name, (size_t)(s + len - 1 - name));
    s += begins;
    if (end - s > 5 && memcmp(s, "path ", 5) == 0)
        taken = take_path(c, s, end, part.name);
    else if (end - s > 7 && memcmp(s, "thread ", 7) == 0)
        taken = field(s, end, " ns=", &part.ns) && take_part(c, c->thread, &c->threads, &part);
    else if (end - s > 5 && memcmp(s, "free ", 5) == 0)
        taken = field(s, end, " gain=", &part.ns) && field(s, end, " kind=", &part.kind) &&
                take_part(c, c->thing, &c->things, &part);
    if (!taken)
        free(part.name);
    return taken;
}

void critical_text_all(struct critical_text *c, const struct strbuf *text)
{
    const char *s = text->buf, *end = text->buf + text->len;

    while (s < end) {
        const char *newline = memchr(s, '\n', (size_t)(end - s));
        const char *line_end = newline ? newline : end;

        critical_text_line(c, s, (size_t)(line_end - s));
        s = line_end + 1;
    }
}
