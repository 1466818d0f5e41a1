#define _GNU_SOURCE
#include "fold/spill/spillrun.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "common/alloc.h"

enum { BUFFER = 64 * 1024 };

static int failed(FILE *f)
{
    int err = errno;

    return ferror(f) && err ? -err : -EIO;
}

int spillrun_create(const char *dir, FILE **out)
{
    struct strbuf name = STRBUF_INIT;
    int fd, err = 0;

    strbuf_addf(&name, "%s/flame-stacks.XXXXXX", dir);
    fd = mkostemp(name.buf, O_CLOEXEC);
    if (fd < 0 || unlink(name.buf) < 0 || !(*out = fdopen(fd, "w+")))
        err = -errno;
    if (err && fd >= 0)
        close(fd);
    if (!err)
        setvbuf(*out, NULL, _IOFBF, BUFFER);
    strbuf_release(&name);
    return err;
}

static size_t common_prefix(const struct strbuf *a, const struct strbuf *b)
{
    size_t n = a->len < b->len ? a->len : b->len, i = 0;

    while (i < n && a->buf[i] == b->buf[i])
        i++;
    return i;
}

static size_t add_count(uint64_t *to, const struct stackset_count *c, bool parts)
{
    to[0] = c->whole;
    to[1] = c->part;
    return parts ? 2 : 1;
}

int spillrun_put(FILE *f, struct strbuf *before, const struct spillrun_stack *s)
{
    size_t shared = common_prefix(before, &s->text), rest = s->text.len - shared, n = 0;
    bool parts = s->first.part || s->second.part;
    struct spillrun_head head = {
        (uint32_t)shared, (uint32_t)rest,
        (s->frames ? SPILLRUN_FRAMES : 0u) | (s->has_first ? SPILLRUN_FIRST : 0u) |
            (s->has_second ? SPILLRUN_SECOND : 0u) | (parts ? SPILLRUN_PARTS : 0u)};
    uint64_t counts[4];

    if (s->text.len > UINT32_MAX)
        return -EFBIG;
    if (s->has_first)
        n += add_count(counts + n, &s->first, parts);
    if (s->has_second)
        n += add_count(counts + n, &s->second, parts);
    strbuf_setlen(before, shared);
    strbuf_add(before, s->text.buf + shared, rest);
    errno = 0;
    if (fwrite(&head, sizeof head, 1, f) != 1 || fwrite(s->text.buf + shared, 1, rest, f) != rest ||
        fwrite(counts, sizeof *counts, n, f) != n)
        return failed(f);
    return 0;
}

static bool get_count(FILE *f, struct stackset_count *c, bool parts)
{
    uint64_t v[2] = {0, 0};

    if (fread(v, sizeof *v, parts ? 2 : 1, f) != (parts ? 2u : 1u) || v[1] >= STACKSET_PART)
        return false;
    *c = (struct stackset_count){v[0], v[1]};
    return true;
}

int spillrun_get(FILE *f, struct spillrun_stack *s)
{
    struct spillrun_head head;
    size_t got;

    errno = 0;
    got = fread(&head, 1, sizeof head, f);
    if (got == 0 && !ferror(f))
        return 0;
    if (got != sizeof head || head.shared > s->text.len)
        return failed(f);
    strbuf_setlen(&s->text, head.shared);
    strbuf_grow(&s->text, head.rest);
    if (fread(s->text.buf + head.shared, 1, head.rest, f) != head.rest)
        return failed(f);
    s->text.len += head.rest;
    strbuf_setlen(&s->text, s->text.len);
    s->frames = head.has & SPILLRUN_FRAMES;
    s->has_first = head.has & SPILLRUN_FIRST;
    s->has_second = head.has & SPILLRUN_SECOND;
    s->first = s->second = (struct stackset_count){0, 0};
    if ((s->has_first && !get_count(f, &s->first, head.has & SPILLRUN_PARTS)) ||
        (s->has_second && !get_count(f, &s->second, head.has & SPILLRUN_PARTS)))
        return failed(f);
    return 1;
}

int spillrun_compare(const struct spillrun_stack *a, const struct spillrun_stack *b)
{
    const struct strbuf *s = &a->text, *t = &b->text;
    int c = memcmp(s->buf, t->buf, s->len < t->len ? s->len : t->len);

    if (a->frames != b->frames)
        return a->frames ? 1 : -1;
    return c ? c : (s->len > t->len) - (s->len < t->len);
}

/* ---- merging ---- */

struct source {
    FILE *f;
    struct spillrun_stack at;
};

/* A heap: none comes before the one above it. */
struct heap {
    struct source **of;
    size_t n;
};

static void sift(struct heap *h, size_t i)
{
    for (;;) {
        size_t least = 2 * i + 1;
        struct source *s = h->of[i];

        if (least >= h->n)
            return;
        if (least + 1 < h->n && spillrun_compare(&h->of[least + 1]->at, &h->of[least]->at) < 0)
            least++;
        if (spillrun_compare(&s->at, &h->of[least]->at) <= 0)
            return;
        h->of[i] = h->of[least];
        h->of[least] = s;
        i = least;
    }
}

/* Moves the first source to its next stack. */
static int advance(struct heap *h)
{
    int got = spillrun_get(h->of[0]->f, &h->of[0]->at);

    if (got < 0)
        return got;
    if (got == 0)
        h->of[0] = h->of[--h->n];
    if (h->n)
        sift(h, 0);
    return 0;
}

static void add_up(struct spillrun_stack *to, const struct spillrun_stack *s)
{
    to->has_first |= s->has_first;
    to->has_second |= s->has_second;
    stackset_count_add(&to->first, &s->first);
    stackset_count_add(&to->second, &s->second);
}

/* The least stack of all, in *out, and the sources behind it. */
static int take_least(struct heap *h, struct spillrun_stack *out)
{
    const struct spillrun_stack *least = &h->of[0]->at;
    struct strbuf text = out->text;
    int err = 0;

    strbuf_clear(&text);
    strbuf_add(&text, least->text.buf, least->text.len);
    *out = *least;
    out->text = text;
    err = advance(h);
    while (!err && h->n && spillrun_compare(&h->of[0]->at, out) == 0) {
        add_up(out, &h->of[0]->at);
        err = advance(h);
    }
    return err;
}

static int begin(struct heap *h, struct source *sources, FILE *const *runs, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        int got;

        sources[i] = (struct source){runs[i], SPILLRUN_STACK_INIT};
        rewind(runs[i]);
        got = spillrun_get(runs[i], &sources[i].at);
        if (got < 0)
            return got;
        if (got)
            h->of[h->n++] = &sources[i];
    }
    for (size_t i = h->n / 2; i-- > 0;)
        sift(h, i);
    return 0;
}

int spillrun_merge(FILE *const *runs, size_t n, int (*put)(void *to, struct spillrun_stack *s),
                   void *to)
{
    struct source *sources = xcalloc(n, sizeof *sources);
    struct heap h = {xcalloc(n, sizeof(struct source *)), 0};
    struct spillrun_stack least = SPILLRUN_STACK_INIT;
    int err = begin(&h, sources, runs, n);

    while (!err && h.n) {
        err = take_least(&h, &least);
        if (!err)
            err = put(to, &least);
    }
    for (size_t i = 0; i < n; i++)
        if (sources[i].f)
            strbuf_release(&sources[i].at.text);
    strbuf_release(&least.text);
    free(sources);
    free(h.of);
    return err;
}
