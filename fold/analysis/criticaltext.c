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
    for (size_t i = 0; i < c->nwhat_if; i++)
        free(c->what_if[i].last);
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

/* A field that texts of earlier versions may lack. */
static void field_or_0(const char *s, const char *end, const char *key, uint64_t *value)
{
    if (!field(s, end, key, value))
        *value = 0;
}

static bool take_path(struct critical_text *c, const char *s, const char *end, char *name)
{
    struct critical_text p = {.paths = 1};

    if (!field(s, end, " length=", &p.length_ns) || !field(s, end, " ran=", &p.ran_ns) ||
        !field(s, end, " waited=", &p.waited_ns) || !field(s, end, " woken=", &p.woken_ns) ||
        !field(s, end, " short=", &p.short_ns) || !field(s, end, " unknown=", &p.unknown_ns) ||
        !field(s, end, " threads=", &p.nthreads))
        return false;
    field_or_0(s, end, " from=", &p.from_ns);
    field_or_0(s, end, " other=", &p.other_ns);
    field_or_0(s, end, " regions=", &p.regions);
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

static bool take_thread(struct critical_text *c, const char *s, const char *end,
                        struct critical_text_part *part)
{
    field_or_0(s, end, " tid=", &part->tid);
    return field(s, end, " ns=", &part->ns) && take_part(c, c->thread, &c->threads, part);
}

static bool take_thing(struct critical_text *c, const char *s, const char *end,
                       struct critical_text_part *part)
{
    field_or_0(s, end, " waits=", &part->waits);
    field_or_0(s, end, " path=", &part->path_ns);
    return field(s, end, " gain=", &part->ns) && field(s, end, " kind=", &part->kind) &&
           take_part(c, c->thing, &c->things, part);
}

static bool take_what_if(struct critical_text *c, const char *s, const char *end, char *name)
{
    struct critical_text_what_if w = {.last = NULL};

    if (c->paths != 1 || c->nwhat_if == CRITICAL_TEXT_MOST ||
        !field(s, end, " gain=", &w.gain_ns) || !field(s, end, " waits=", &w.waits) ||
        !field(s, end, " path=", &w.path_ns) || !field(s, end, " all=", &w.all) ||
        !field(s, end, " all-ns=", &w.all_ns) || !field(s, end, " cpu=", &w.cpu_ns))
        return false;
    c->what_if[c->nwhat_if++] = w;
    free(name);
    return true;
}

static bool take_last(struct critical_text *c, const char *s, const char *end, char *name)
{
    struct critical_text_what_if *w = c->nwhat_if ? &c->what_if[c->nwhat_if - 1] : NULL;

    if (!w || w->last || !field(s, end, " gain=", &w->last_gain_ns) ||
        !field(s, end, " tid=", &w->last_tid))
        return false;
    w->last = name;
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
        taken = take_thread(c, s, end, &part);
    else if (end - s > 5 && memcmp(s, "free ", 5) == 0)
        taken = take_thing(c, s, end, &part);
    else if (end - s > 8 && memcmp(s, "what-if ", 8) == 0)
        taken = take_what_if(c, s, end, part.name);
    else if (end - s > 5 && memcmp(s, "last ", 5) == 0)
        taken = take_last(c, s, end, part.name);
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
