#include "driver/suppress/baseline.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <uthash.h>

#include "common/alloc.h"
#include "common/error.h"
#include "common/folded.h"
#include "driver/suppress/baseline_json.h"

struct known {
    char *key;
    uint64_t bytes;
    UT_hash_handle hh;
};

struct baseline {
    struct known *stacks;
};

struct baseline *baseline_new(void)
{
    return xcalloc(1, sizeof(struct baseline));
}

void baseline_free(struct baseline *b)
{
    struct known *k, *next;

    if (!b)
        return;
    HASH_ITER (hh, b->stacks, k, next) {
        HASH_DEL(b->stacks, k);
        free(k->key);
        free(k);
    }
    free(b);
}

uint64_t *baseline_find(struct baseline *b, const char *key, size_t len)
{
    struct known *k;

    HASH_FIND(hh, b->stacks, key, len, k);
    return k ? &k->bytes : NULL;
}

void baseline_add(struct baseline *b, const char *key, size_t len, uint64_t bytes)
{
    struct known *k;

    HASH_FIND(hh, b->stacks, key, len, k);
    if (!k) {
        k = xcalloc(1, sizeof *k);
        k->key = xmemdup0(key, len);
        HASH_ADD_KEYPTR(hh, b->stacks, k->key, len, k);
    }
    k->bytes = bytes > UINT64_MAX - k->bytes ? UINT64_MAX : k->bytes + bytes;
}

/* ---- stacks ---- */

static size_t without(const char *s, size_t len, const char *ending)
{
    size_t n = strlen(ending);

    return len > n && memcmp(s + len - n, ending, n) == 0 ? len - n : len;
}

/* The length of "f file.c:12" without the text after the name. */
static size_t without_line(const char *s, size_t len)
{
    size_t n = len, word;

    while (n && s[n - 1] >= '0' && s[n - 1] <= '9')
        n--;
    if (n == len || n < 2 || s[n - 1] != ':')
        return len;
    for (word = n - 1; word && s[word - 1] != ' ';)
        word--;
    return word > 1 && word < n - 1 ? word - 1 : len;
}

/* Length of "[libc.so.6+0x1234]" up to the sign; len: the text has no such form. */
static size_t before_offset(const char *s, size_t len)
{
    size_t n = len;

    if (len < 2 || s[0] != '[' || s[len - 1] != ']')
        return len;
    for (n = len - 1;
         n && ((s[n - 1] >= '0' && s[n - 1] <= '9') || (s[n - 1] >= 'a' && s[n - 1] <= 'f'));)
        n--;
    return n > 4 && n < len - 1 && memcmp(s + n - 3, "+0x", 3) == 0 ? n - 3 : len;
}

/* Stripped as often as there is something to strip, so that a key's key is the key. */
static void add_frame(struct strbuf *sb, const char *s, size_t len)
{
    struct strbuf name = STRBUF_INIT;
    size_t before, n;

    folded_add_frame(&name, s, len);
    do {
        before = name.len;
        strbuf_setlen(&name, without(name.buf, name.len, "_[i]"));
        strbuf_setlen(&name, without_line(name.buf, name.len));
        n = before_offset(name.buf, name.len);
        if (n < name.len) {
            strbuf_setlen(&name, n);
            strbuf_addch(&name, ']');
        }
    } while (name.len != before);
    folded_add_frame(sb, name.buf, name.len);
    strbuf_release(&name);
}

void baseline_add_key(struct strbuf *sb, const char *stack, size_t len)
{
    /* Empty frames at the end do not count. */
    while (len && stack[len - 1] == ';')
        len--;
    for (size_t at = 0; at < len;) {
        const char *end = memchr(stack + at, ';', len - at);
        size_t n = end ? (size_t)(end - stack) - at : len - at;

        if (at)
            strbuf_addch(sb, ';');
        add_frame(sb, stack + at, n);
        at += n + 1;
    }
}

/* ---- files ---- */

struct reading {
    struct baseline *b;
    const char *name, *view;
    size_t line;
    bool other_view;        /* the lines read now belong to another view */
    bool any_other, wanted; /* there was such a part; there was one of this view */
    struct strbuf key;
    struct strbuf *why;
};

static int wrong(struct reading *r, const char *what, ...) FLAME_PRINTF(2, 3);

static int wrong(struct reading *r, const char *what, ...)
{
    struct strbuf at = STRBUF_INIT;
    char text[512];
    va_list ap;

    va_start(ap, what);
    vsnprintf(text, sizeof text, what, ap);
    va_end(ap);
    strbuf_addstr(&at, r->name);
    if (r->line)
        strbuf_addf(&at, ":%zu", r->line);
    if (r->why)
        strbuf_addf(r->why, "%s: %s", at.buf, text);
    else
        flame_error(FLAME_USAGE, "leak: %s: %s", at.buf, text);
    strbuf_release(&at);
    return FLAME_USAGE;
}

/* A part of the text belongs to the view that its "# flame:" line names. */
static void read_heading(struct reading *r, const char *s, size_t len)
{
    const char *view;
    size_t n;

    if (!folded_find_meta(s, len, "view", &view, &n))
        return;
    r->other_view = n != strlen(r->view) || memcmp(view, r->view, n) != 0;
    r->any_other |= r->other_view;
    r->wanted |= !r->other_view;
}

static int read_line(struct reading *r, const char *s, size_t len)
{
    struct folded_line l;
    int kind = folded_parse_line(s, len, &l);

    if (kind == 0) {
        read_heading(r, s, len);
        return 0;
    }
    if (kind < 0)
        return wrong(r, "no folded stack, which is a line like 'main;read 42'");
    if (l.differential)
        return wrong(r, "two counts: a comparison is no baseline");
    if (folded_is_too_deep(l.stack, l.len))
        return wrong(r, "the stack " FOLDED_TOO_DEEP);
    if (r->other_view)
        return 0;
    strbuf_clear(&r->key);
    baseline_add_key(&r->key, l.stack, l.len);
    if (!r->key.len)
        return wrong(r, "a stack without frames");
    baseline_add(r->b, r->key.buf, r->key.len, l.count.whole);
    return 0;
}

/* leak.json begins with '{', as no line of folded stacks with a count is likely to. */
static bool is_json(const char *text, size_t len)
{
    size_t at = 0;

    while (at < len &&
           (text[at] == ' ' || text[at] == '\n' || text[at] == '\r' || text[at] == '\t'))
        at++;
    return at < len && text[at] == '{';
}

static int read_json(struct reading *r, const char *text, size_t len)
{
    if (baseline_add_json(r->b, r->view, text, len, &r->line))
        return 0;
    return wrong(r, "not what 'flame leak --json' writes");
}

static int read_text(struct reading *r, const char *text, size_t len)
{
    int status = 0;

    for (size_t at = 0; at < len && !status;) {
        const char *nl = memchr(text + at, '\n', len - at);
        size_t n = nl ? (size_t)(nl - text) - at : len - at;

        r->line++;
        status = read_line(r, text + at, n);
        at += n + 1;
    }
    if (status || !r->any_other || r->wanted)
        return status;
    r->line = 0;
    return wrong(r, "counts something else than view=%s; --write-baseline makes one", r->view);
}

int baseline_parse(struct baseline **out, const char *name, const char *view, const char *text,
                   size_t len, struct strbuf *why)
{
    struct reading r = {
        .b = baseline_new(), .name = name, .view = view, .key = STRBUF_INIT, .why = why};
    int status = is_json(text, len) ? read_json(&r, text, len) : read_text(&r, text, len);

    strbuf_release(&r.key);
    if (status) {
        baseline_free(r.b);
        r.b = NULL;
    }
    *out = r.b;
    return status;
}

int baseline_read(struct baseline **out, const char *path, const char *view)
{
    struct strbuf text = STRBUF_INIT;
    int err = strbuf_read_file(&text, path, SIZE_MAX), status;

    *out = NULL;
    if (err)
        status = flame_cannot_read(path, err);
    else
        status = baseline_parse(out, path, view, text.buf, text.len, NULL);
    strbuf_release(&text);
    return status;
}

static int by_key(const struct known *a, const struct known *b)
{
    return strcmp(a->key, b->key);
}

void baseline_text(struct baseline *b, const char *view, struct strbuf *sb)
{
    strbuf_addf(sb, "# flame: view=%s unit=bytes\n", view);
    HASH_SORT(b->stacks, by_key);
    for (const struct known *k = b->stacks; k; k = k->hh.next)
        strbuf_addf(sb, "%s %" PRIu64 "\n", k->key, k->bytes);
}
