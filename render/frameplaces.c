#define _GNU_SOURCE
#include "render/frameplaces.h"

#include <stdlib.h>

#include "common/alloc.h"
#include "common/trace/trace_reader.h"
#include "fold/stacks/place.h"
#include "fold/stacks/span.h"
#include "fold/viewtable.h"
#include "render/framename.h"

const char *frameplace_name(enum frameplace kind)
{
    static const char *const names[] = {
        [FRAMEPLACE_FUNCTION] = "function", [FRAMEPLACE_MODULE] = "module",
        [FRAMEPLACE_FILE] = "file",         [FRAMEPLACE_LINE] = "line",
        [FRAMEPLACE_THREAD] = "thread",     [FRAMEPLACE_PROCESS] = "process",
    };

    return names[kind];
}

static uint32_t add_place(struct frameplaces *p, const char *s, size_t len)
{
    uint32_t place = stackset_name(p->texts, s, len);

    if (place >= p->n) {
        p->n = place + 1;
        p->called = xreallocarray(p->called, p->n, sizeof *p->called);
        p->called[place] = 0;
    }
    return place;
}

static void put(struct frameplaces *p, uint32_t name, const char *s, size_t len)
{
    p->of[name] = add_place(p, s, len) + 1;
    p->known |= p->of[name] != FRAMEPLACES_UNKNOWN + 1;
}

/* ---- places of the frame itself ---- */

static enum place_kind place_kind(enum frameplace kind)
{
    return kind == FRAMEPLACE_MODULE ? PLACE_MODULE
           : kind == FRAMEPLACE_FILE ? PLACE_FILE
                                     : PLACE_LINE;
}

/* Appends the text of a name's place where the input has modules; nothing: it has none of its
 * own. */
static void add_reported(struct strbuf *sb, const struct frametree *t, enum frameplace kind,
                         uint32_t name)
{
    const struct frametree_name *n = &t->names[name], *module = frametree_module(t, name);
    struct framename f = framename_split(n->s, n->len);
    struct span text = {n->s, n->len}, base;
    bool bracket = module && module->len && module->s[0] == '[';

    if (kind != FRAMEPLACE_MODULE && f.file) {
        base = (struct span){f.file, f.file_len};
        base = span_from(base, span_rchr(base, '/') + 1);
        strbuf_add(sb, base.s, base.len);
        if (kind == FRAMEPLACE_LINE)
            strbuf_addf(sb, ":%u", f.line);
    } else if (module) {
        strbuf_addstr(sb, kind != FRAMEPLACE_MODULE && !bracket ? "[" : "");
        strbuf_add(sb, module->s, module->len);
        strbuf_addstr(sb, kind != FRAMEPLACE_MODULE && !bracket ? "]" : "");
    } else if (f.mark == 'k') {
        strbuf_addstr(sb, "[kernel]");
    } else if (f.mark == 'j') {
        strbuf_addstr(sb, "[jit]");
    } else if (span_begins(text, "[unknown")) {
        strbuf_addstr(sb, "[unknown]");
    }
}

static void place_names(struct frameplaces *p, enum frameplace kind)
{
    const struct frametree *t = p->t;
    struct strbuf sb = STRBUF_INIT;

    for (uint32_t i = 1; i < t->nnames; i++) {
        strbuf_clear(&sb);
        if (t->module_of)
            add_reported(&sb, t, kind, i);
        else if (!place_find(place_kind(kind), t->names[i].s, t->names[i].len, &sb) || !sb.len)
            strbuf_addstr(&sb, "[unknown]");
        if (sb.len)
            put(p, i, sb.buf, sb.len);
    }
    strbuf_release(&sb);
}

/* ---- places of the stack's root ---- */

/* The numbers in "COMM-PID", "COMM-PID/TID" and "COMM-PID (fork)". */
struct root_name {
    struct span pid; /* empty: none */
    bool tid;
};

static struct span digits_at_end(struct span s)
{
    size_t n = s.len;

    while (n > 0 && is_digit_ch(s.s[n - 1]))
        n--;
    return span_from(s, n);
}

static struct root_name read_root(const struct frametree_name *n)
{
    struct root_name r = {.pid = {n->s, 0}};
    struct span s = {n->s, n->len}, number;

    if (span_ends(s, TRACE_FORK_MARK))
        s.len -= sizeof TRACE_FORK_MARK - 1;
    number = digits_at_end(s);
    s.len -= number.len;
    if (number.len && s.len && s.s[s.len - 1] == '/') {
        s.len--;
        number = digits_at_end(s);
        s.len -= number.len;
        r.tid = number.len > 0;
    }
    if (number.len && s.len > 1 && s.s[s.len - 1] == '-')
        r.pid = number;
    else
        r.tid = false;
    return r;
}

static uint32_t first_root(const struct frametree *t)
{
    return t->nodes[0].first;
}

static void place_processes(struct frameplaces *p, bool programs)
{
    const struct frametree *t = p->t;
    double *most = NULL;
    size_t nmost = 0;

    p->depth = 1;
    for (uint32_t i = first_root(t); i != FRAMETREE_NONE; i = t->nodes[i].next) {
        uint32_t name = t->nodes[i].name, place;
        struct root_name r = read_root(&t->names[name]);
        double total = folded_count_double(frametree_total(t, i));

        if (!r.pid.len && !programs)
            continue;
        if (r.pid.len)
            put(p, name, r.pid.s, r.pid.len);
        else
            put(p, name, t->names[name].s, t->names[name].len);
        place = p->of[name] - 1;
        /* Threads may have names of their own: the name with the largest total names the
           process. */
        GROW_FILLED(most, place, nmost, 0);
        if (!p->called[place] || total > most[place]) {
            p->called[place] = name;
            most[place] = total;
        }
    }
    free(most);
}

static bool is_thread(const struct frametree_name *n)
{
    struct span s = {n->s, n->len}, number = digits_at_end(s);
    size_t at = s.len - number.len;

    return (number.len && at > 1 && s.s[at - 1] == '-') || span_ends(s, " threads") ||
           span_is(s, "[unknown thread]");
}

static void place_threads(struct frameplaces *p, bool threads)
{
    const struct frametree *t = p->t;

    p->depth = 1;
    for (uint32_t i = first_root(t); i != FRAMETREE_NONE; i = t->nodes[i].next) {
        const struct frametree_name *n = &t->names[t->nodes[i].name];

        if (read_root(n).tid)
            put(p, t->nodes[i].name, n->s, n->len);
    }
    if (p->known)
        return;
    p->depth = 2;
    for (uint32_t i = first_root(t); i != FRAMETREE_NONE; i = t->nodes[i].next)
        for (uint32_t c = t->nodes[i].first; c != FRAMETREE_NONE; c = t->nodes[c].next) {
            const struct frametree_name *n = &t->names[t->nodes[c].name];

            if (is_thread(n))
                put(p, t->nodes[c].name, n->s, n->len);
        }
    if (p->known || !threads)
        return;
    p->depth = 1;
    for (uint32_t i = first_root(t); i != FRAMETREE_NONE; i = t->nodes[i].next)
        put(p, t->nodes[i].name, t->names[t->nodes[i].name].s, t->names[t->nodes[i].name].len);
}

void frameplaces_make(struct frameplaces *p, const struct frametree *t, enum frameplace kind,
                      const char *view)
{
    static const char unknown[] = "[unknown]";
    const struct view *v = view ? view_find(view) : NULL;

    *p = (struct frameplaces){.t = t, .texts = stackset_new()};
    p->of = xcalloc(t->nnames, sizeof *p->of);
    add_place(p, unknown, sizeof unknown - 1);
    if (kind == FRAMEPLACE_PROCESS)
        place_processes(p, v && v->recorder == TRACE_RECORDER_MEM);
    else if (kind == FRAMEPLACE_THREAD)
        place_threads(p, v && v->recorder == TRACE_RECORDER_OFF);
    else if (kind != FRAMEPLACE_FUNCTION)
        place_names(p, kind);
}

void frameplaces_release(struct frameplaces *p)
{
    stackset_free(p->texts);
    free(p->of);
    free(p->called);
    *p = (struct frameplaces){0};
}

const char *frameplaces_text(const struct frameplaces *p, uint32_t place, size_t *len)
{
    const struct frametree_name *n = &p->t->names[p->called[place]];

    if (!p->called[place])
        return stackset_text(p->texts, place, len);
    *len = n->len;
    return n->s;
}
