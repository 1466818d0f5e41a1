/*
 * Rules, and whether one matches a stack. The match of a pattern and a frame is computed once:
 * leaks have most of their frames in common.
 *
 * memcheck's stacks begin with the allocator's function, as that is memcheck's own. Flame's begin
 * with its caller, but for libstdc++'s operators, which call malloc. So a rule's first line may
 * also match that missing frame, and operators that call each other count as one frame.
 */
#include "driver/suppress/suppress_impl.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "common/basename.h"
#include "common/error.h"
#include "common/processor/processor.h"

/* No file of rules that people wrote comes near it. */
#define FILE_MAX ((size_t)16 << 20)
#define QUOTED 60

struct suppressions *suppressions_new(void)
{
    return xcalloc(1, sizeof(struct suppressions));
}

static void release_rule(struct suppress_rule *r)
{
    free(r->facts.name);
    free(r->line);
}

void suppressions_free(struct suppressions *s)
{
    if (!s)
        return;
    for (size_t i = 0; i < s->n; i++)
        release_rule(&s->rule[i]);
    for (size_t i = 0; i < s->npatterns; i++)
        wildcard_free(s->pattern[i]);
    for (size_t i = 0; i < s->nnames; i++)
        free(s->names[i]);
    free(s->rule);
    free(s->pattern);
    free(s->names);
    free(s);
}

size_t suppressions_count(const struct suppressions *s)
{
    return s->n;
}

struct suppression *suppressions_at(struct suppressions *s, size_t i)
{
    return &s->rule[i].facts;
}

void suppress_frame_release(struct suppress_frame *f)
{
    free(f->known);
    f->known = NULL;
}

/* ---- reading ---- */

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r';
}

int suppress_next_line(struct suppress_text *t, const char **line, size_t *len)
{
    while (t->at < t->end) {
        const char *nl = memchr(t->at, '\n', (size_t)(t->end - t->at)), *s = t->at;
        const char *end = nl ? nl : t->end;

        t->at = nl ? nl + 1 : t->end;
        t->line++;
        while (s < end && is_blank(*s))
            s++;
        while (s < end && is_blank(end[-1]))
            end--;
        if (s == end || *s == '#')
            continue;
        if ((size_t)(end - s) > SUPPRESS_LINE_MAX)
            return suppress_wrong(t, "the line is longer than %u bytes", SUPPRESS_LINE_MAX);
        if (memchr(s, '\0', (size_t)(end - s)))
            return suppress_wrong(t, "the line holds a NUL byte, as no text does");
        *line = s;
        *len = (size_t)(end - s);
        return 1;
    }
    return 0;
}

int suppress_wrong(struct suppress_text *t, const char *what, ...)
{
    char text[512];
    va_list ap;

    va_start(ap, what);
    vsnprintf(text, sizeof text, what, ap);
    va_end(ap);
    if (!t->why)
        return flame_error(FLAME_USAGE, "leak: %s:%u: %s", t->name, t->line, text);
    strbuf_addf(t->why, "%s:%u: %s", t->name, t->line, text);
    return FLAME_USAGE;
}

const char *suppress_quote(const char *line, size_t len)
{
    static char quoted[QUOTED + sizeof "..."];

    snprintf(quoted, sizeof quoted, "%.*s%s", len < QUOTED ? (int)len : QUOTED, line,
             len <= QUOTED ? "" : "...");
    return quoted;
}

struct suppress_rule *suppress_add_rule(struct suppress_text *t, const char *name, size_t len)
{
    struct suppressions *s = t->to;
    struct suppress_rule *r;

    GROW(s->rule, s->n, s->room);
    r = &s->rule[s->n++];
    *r = (struct suppress_rule){.facts = {.name = xmemdup0(name, len),
                                          .file = t->builtin ? NULL : t->name,
                                          .line = t->line,
                                          .kinds = SUPPRESS_ALL}};
    return r;
}

void suppress_drop_rule(struct suppress_text *t)
{
    release_rule(&t->to->rule[--t->to->n]);
}

void suppress_add_line(struct suppress_text *t, struct suppress_rule *r, enum suppress_what what,
                       struct wildcard *pattern)
{
    struct suppressions *s = t->to;

    GROW(r->line, r->nlines, r->room);
    r->line[r->nlines++] = (struct suppress_line){what, s->npatterns};
    if (!pattern)
        return;
    GROW(s->pattern, s->npatterns, s->patterns_room);
    s->pattern[s->npatterns++] = pattern;
}

int suppressions_parse(struct suppressions *s, const char *name, bool builtin, const char *text,
                       size_t len, struct strbuf *why)
{
    struct suppress_text t = {.to = s,
                              .name = name,
                              .builtin = builtin,
                              .at = text,
                              .end = text + len,
                              .why = why},
                         first = t;
    const char *line;
    size_t n;
    int more = suppress_next_line(&first, &line, &n);

    if (more != 1)
        return more;
    return line[0] == '{' ? suppress_read_memcheck(&t) : suppress_read_lsan(&t);
}

int suppressions_read(struct suppressions *s, const char *path)
{
    struct strbuf text = STRBUF_INIT;
    int err = strbuf_read_file(&text, path, FILE_MAX), status;

    if (err) {
        status = flame_cannot_read(path, err);
    } else {
        s->names = xreallocarray(s->names, s->nnames + 1, sizeof *s->names);
        s->names[s->nnames] = xstrdup(path);
        status = suppressions_parse(s, s->names[s->nnames++], false, text.buf, text.len, NULL);
    }
    strbuf_release(&text);
    return status;
}

/* ---- matching ---- */

enum { UNKNOWN, NO, YES };

static bool matches_text(const struct wildcard *w, const char *s)
{
    return s && wildcard_matches(w, s, strlen(s));
}

/* memcheck knows source files by their last component. */
static bool matches_source(const struct wildcard *w, const char *path)
{
    return matches_text(w, path) || (path && matches_text(w, base_name(path)));
}

static bool matches_name(const struct wildcard *w, const struct suppress_frame *f)
{
    return wildcard_matches(w, f->name, f->len) ||
           (f->raw && wildcard_matches(w, f->raw, f->raw_len));
}

static bool ask(const struct suppressions *s, const struct suppress_line *l,
                const struct suppress_frame *f)
{
    const struct wildcard *w = s->pattern[l->pattern];

    switch (l->what) {
    case SUPPRESS_FUN:
        return matches_name(w, f);
    case SUPPRESS_OBJ:
        return matches_text(w, f->module);
    case SUPPRESS_SRC:
        return matches_source(w, f->file);
    case SUPPRESS_ANYTHING:
        return matches_name(w, f) || matches_text(w, f->file) || matches_text(w, f->module);
    default:
        return true;
    }
}

static bool frame_matches(const struct suppressions *s, const struct suppress_line *l,
                          struct suppress_frame *f)
{
    uint8_t *known;

    if (!f->known)
        f->known = xcalloc(s->npatterns, 1);
    known = &f->known[l->pattern];
    if (*known == UNKNOWN)
        *known = ask(s, l, f) ? YES : NO;
    return *known == YES;
}

static bool any_matches(const struct suppressions *s, const struct suppress_line *l,
                        struct suppress_frame *const *stack, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (frame_matches(s, l, stack[i]))
            return true;
    return false;
}

/* Whether the lines, none of them "...", match the first frames. */
static bool run_matches(const struct suppressions *s, const struct suppress_line *line,
                        size_t nlines, struct suppress_frame *const *stack)
{
    for (size_t i = 0; i < nlines; i++)
        if (!frame_matches(s, &line[i], stack[i]))
            return false;
    return true;
}

/*
 * Whether the lines match the first frames. Lines between two "..." match at the first possible
 * place, so the search never backtracks.
 */
static bool lines_match(const struct suppressions *s, const struct suppress_line *line,
                        size_t nlines, struct suppress_frame *const *stack, size_t n)
{
    bool open = false;
    size_t at = 0, i = 0;

    while (i < nlines) {
        size_t run = 0;

        if (line[i].what == SUPPRESS_ELLIPSIS) {
            open = true;
            i++;
            continue;
        }
        while (i + run < nlines && line[i + run].what != SUPPRESS_ELLIPSIS)
            run++;
        while (at + run <= n && !run_matches(s, line + i, run, stack + at)) {
            if (!open)
                return false;
            at++;
        }
        if (at + run > n)
            return false;
        at += run;
        i += run;
        open = false;
    }
    return true;
}

static bool is_operator(const struct suppress_frame *f)
{
    return f->raw && f->raw_len >= 4 &&
           (memcmp(f->raw, "_Znw", 4) == 0 || memcmp(f->raw, "_Zna", 4) == 0);
}

static bool names_one_of(const struct wildcard *w, const char *const *names)
{
    for (; *names; names++)
        if (matches_text(w, *names))
            return true;
    return false;
}

/* Whether the rule's first line is for one of the functions that memcheck's stacks begin with. */
static bool begins_with_allocator(const struct suppressions *s, const struct suppress_rule *r)
{
    static const char *const names[] = {
        "malloc", "calloc",  "realloc", "memalign", "aligned_alloc",       "posix_memalign",
        "valloc", "pvalloc", "_Znwm",   "_Znam",    "_ZnwmRKSt9nothrow_t", "_ZnamRKSt9nothrow_t",
        NULL,
    };
    static const char *const takers[] = {"free",    "realloc", "_ZdlPv", "_ZdaPv",
                                         "_ZdlPvm", "_ZdaPvm", NULL};
    static const char preload[] =
        "/usr/libexec/valgrind/vgpreload_memcheck-" PROCESSOR_VALGRIND "-linux.so";
    const struct suppress_line *l = &r->line[0];

    if (l->what == SUPPRESS_OBJ)
        return matches_text(s->pattern[l->pattern], preload);
    return l->what == SUPPRESS_FUN &&
           names_one_of(s->pattern[l->pattern], r->facts.kinds == SUPPRESS_MISUSE ? takers : names);
}

static bool frames_match(const struct suppressions *s, const struct suppress_rule *r,
                         struct suppress_frame *const *stack, size_t n)
{
    bool allocator = begins_with_allocator(s, r);

    for (size_t from = 0; from <= n; from++) {
        if (lines_match(s, r->line, r->nlines, stack + from, n - from) ||
            (allocator && lines_match(s, r->line + 1, r->nlines - 1, stack + from, n - from)))
            return true;
        if (from == n || !is_operator(stack[from]))
            return false;
    }
    return false;
}

size_t suppressions_match(struct suppressions *s, struct suppress_frame *const *stack, size_t n,
                          enum suppress_kind kind)
{
    size_t first = SUPPRESS_NONE;

    for (size_t i = 0; i < s->n; i++) {
        struct suppress_rule *r = &s->rule[i];

        /* If an earlier rule matches the leak, this one is still tested, but only until it has
         * matched once. */
        if (!(r->facts.kinds & kind) || (first != SUPPRESS_NONE && r->facts.matched))
            continue;
        if (r->line[0].what == SUPPRESS_ANYTHING ? !any_matches(s, &r->line[0], stack, n)
                                                 : !frames_match(s, r, stack, n))
            continue;
        r->facts.matched = true;
        if (first == SUPPRESS_NONE)
            first = i;
    }
    return first;
}

void suppressions_print_matched(const struct suppressions *s, struct strbuf *out)
{
    for (size_t i = 0; i < s->n; i++)
        if (s->rule[i].facts.matched)
            strbuf_addf(out, "matched %zu\n", i);
}

bool suppressions_take_matched(struct suppressions *s, const char *line)
{
    size_t i;

    if (sscanf(line, "matched %zu", &i) != 1)
        return false;
    if (i < s->n)
        s->rule[i].facts.matched = true;
    return true;
}
